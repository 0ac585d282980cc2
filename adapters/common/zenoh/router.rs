//! The router of a trial with `via = router`: this worker's executable, started with `--companion FILE`. FILE contains the
//! router's whole configuration.

use std::collections::BTreeMap;
use std::fs;
use std::net::{IpAddr, Ipv4Addr};
use std::path::Path;

use middlemark_adapter::{Companion, Error, Result, Security, Settings, Via};
use zenoh::{Config, Wait};

use super::endpoints::endpoint;
use super::session::{own_file, refused, without_place};
use super::Native;
use crate::wire;

/// The environment variable with the router's endpoints, separated by spaces. The launcher sets it for the workers.
const ENDPOINTS: &str = "MIDDLEMARK_ZENOH_ROUTER";

/// The part of a trial that the user's own file configures.
#[derive(Clone, Copy, PartialEq)]
pub enum Names {
    /// Sessions that name no router, or there is no file.
    NoRouter,
    /// Sessions that connect to a router.
    Sessions,
    /// The router itself.
    Router,
}

/// Returns what the file configures.
pub fn names(native: &Native) -> Result<Names> {
    let Some(file) = &native.file else { return Ok(Names::NoRouter) };
    let config = own_file(file)?;
    Ok(match mode_of(&config).as_str() {
        "router" => Names::Router,
        _ if listed(&config, "connect/endpoints").is_empty() => Names::NoRouter,
        _ => Names::Sessions,
    })
}

/// How the trial's sessions use the router.
#[derive(Clone, Copy, PartialEq)]
pub enum Users {
    /// Each session has one link, to the router.
    Clients,
    /// Each session also listens, and the router tells it where the others listen.
    Peers,
}

/// Returns how the sessions use the trial's router; `None` if the trial has none.
pub fn users(settings: &Settings, native: &Native) -> Result<Option<Users>> {
    if wire::MEETS_AT_ROUTER {
        let users = if settings.via == Via::Router { Users::Clients } else { Users::Peers };
        return Ok((!settings.one_process).then_some(users));
    }
    if settings.via != Via::Router {
        return Ok(None);
    }
    let peers = match (native.joins, &native.file) {
        (Some(peers), _) => peers,
        (None, Some(file)) => names(native)? == Names::Sessions && mode_of(&own_file(file)?) != "client",
        (None, None) => false,
    };
    Ok(Some(if peers { Users::Peers } else { Users::Clients }))
}

/// Returns the mode in the configuration; zenoh's default is peer.
fn mode_of(config: &Config) -> String {
    config.get_json("mode").unwrap_or_default().trim_matches('"').replace("null", "peer")
}

/// Refuses settings that a router cannot have, and a file that names a router in a trial without one.
pub fn check(settings: &Settings, native: &Native) -> Result<()> {
    let named = names(native)?;
    let file = native.file.as_deref().unwrap_or_default();
    if settings.via != Via::Router && !wire::MEETS_AT_ROUTER {
        if native.joins.is_some() {
            return Err(Error::new("zenoh: native.router_users has no effect without a router", "add --via router"));
        }
        return match named {
            Names::NoRouter => Ok(()),
            Names::Router => Err(needs_router(file, "configures a router")),
            Names::Sessions => {
                own_endpoints(settings, native)?;
                Err(needs_router(file, "connects its sessions to a router"))
            }
        };
    }
    if settings.one_process && settings.via == Via::Router {
        let text = "zenoh: via router: messages within one session do not pass through a router";
        return Err(Error::new(text, "choose --processes 2"));
    }
    if settings.security != Security::None {
        let text = "zenoh: via router: the router of a trial has no certificate, so its links have no security";
        return Err(Error::new(text, "choose --via direct, or --security none"));
    }
    own_endpoints(settings, native).map(|_| ())
}

fn needs_router(file: &str, what: &str) -> Error {
    let text = format!("zenoh: config: {file}: it {what}, and this trial is direct");
    Error::new(text, "add --via router, which starts this router for each trial")
}

/// Returns the endpoints of the user's file on which the router will listen; empty: the file names none.
fn own_endpoints(settings: &Settings, native: &Native) -> Result<Vec<String>> {
    let Some(file) = &native.file else { return Ok(Vec::new()) };
    let config = own_file(file)?;
    let connect = listed(&config, "connect/endpoints");
    if names(native)? == Names::Router {
        if !connect.is_empty() {
            let text =
                format!("zenoh: config: {file}: the router connects to {}, and a trial has one router", connect[0]);
            return Err(Error::new(text, "remove connect from the file"));
        }
        if config.get_json("listen/endpoints").ok() == Config::default().get_json("listen/endpoints").ok() {
            return Ok(Vec::new());
        }
        return listed(&config, "listen/endpoints").iter().map(|each| here(each, settings, file)).collect();
    }
    connect.iter().map(|each| here(each, settings, file)).collect()
}

/// Returns the endpoint with the trial's own address in place of localhost or of all addresses. Fails if the endpoint is not
/// on this machine.
fn here(endpoint: &str, settings: &Settings, file: &str) -> Result<String> {
    let (scheme, rest) = endpoint.split_once('/').unwrap_or((endpoint, ""));
    let wanted = match settings.transport.get() {
        "unix" => "unixsock-stream",
        "udp" => "udp",
        _ => "tcp",
    };
    if scheme != wanted {
        let text = format!("zenoh: config: {file}: {endpoint}: the trial's transport is {}", settings.transport);
        return Err(Error::new(text, format!("write an endpoint of {wanted}/…, or choose another transport")));
    }
    if scheme == "unixsock-stream" {
        return Ok(endpoint.to_owned());
    }
    let end = rest.find(['?', '#']).unwrap_or(rest.len());
    let (host, port) = rest[..end].rsplit_once(':').unwrap_or((&rest[..end], ""));
    let own: Ipv4Addr = settings.ipv4()?.parse()?;
    let host = host.trim_matches(['[', ']']);
    let is_here = host == "localhost"
        || host
            .parse()
            .is_ok_and(|ip: IpAddr| ip == own || ip.is_unspecified() || (own.is_loopback() && ip.is_loopback()));
    if !is_here {
        let text = format!("zenoh: config: {file}: the router {endpoint} is not on this machine");
        let advice = "a trial starts its own router: name one at 127.0.0.1, or remove connect from the file";
        return Err(Error::new(text, advice));
    }
    Ok(format!("{scheme}/{own}:{port}{}", &rest[end..]))
}

/// Returns the endpoints at a path of the configuration that apply to its mode.
fn listed(config: &Config, path: &str) -> Vec<String> {
    let json = config.get_json(path).unwrap_or_default();
    let own = format!("\"{}\":[", mode_of(config)); // one list for all modes, or a list for each mode
    let json = if json.starts_with('{') { json.split_once(&own).map_or("", |(_, rest)| rest) } else { &json };
    let json = json.split_once(']').map_or(json, |(list, _)| list);
    json.split('"').skip(1).step_by(2).filter(|each| each.contains('/')).map(str::to_owned).collect()
}

/// Returns the endpoints of the trial's router, as its companion has reported them.
pub fn of_the_trial() -> Result<Vec<String>> {
    let endpoints = std::env::var(ENDPOINTS).unwrap_or_default();
    if endpoints.is_empty() {
        let text = format!("zenoh: {ENDPOINTS} is not set, and the trial has a router");
        return Err(Error::new(text, "start the router that this worker names with --companions"));
    }
    Ok(endpoints.split(' ').map(str::to_owned).collect())
}

/// Writes the router's configuration, and returns the command that starts the router.
pub fn companion(settings: &Settings) -> Result<Companion> {
    let native = Native::of(settings);
    check(settings, &native)?;
    let mut listen = own_endpoints(settings, &native)?;
    // With a free port in its name, the router of each trial would have figures of its own.
    let name = match listen.is_empty() {
        true => "zenoh router".to_owned(),
        false => format!("zenoh router at {}", listen.join(", ")),
    };
    if listen.is_empty() {
        listen.push(endpoint(settings, "router")?);
    }
    let own = names(&native)? == Names::Router;
    let mut config = match &native.file {
        Some(file) if own => own_file(file)?,
        _ => Config::default(),
    };
    let mut set =
        |path: &str, json5: &str| config.insert_json5(path, json5).map_err(|error| refused(path, json5, &error));
    if !own {
        wire::CONFIGURATION.iter().try_for_each(|(path, json5)| set(path, json5))?;
    }
    set("mode", "\"router\"")?;
    set("listen/endpoints", &format!("{listen:?}"))?;
    set("connect/endpoints", "[]")?;
    set("scouting/multicast/enabled", "false")?;
    let timeout_us = settings.write_timeout().as_micros().to_string();
    if !own {
        set("transport/link/tx/queue/congestion_control/block/wait_before_close", &timeout_us)?;
        if !(wire::SHARES_BY_DEFAULT && settings.is_default_configuration()) {
            set("transport/shared_memory/enabled", "false")?;
        }
    }
    let path = format!("{}/zenoh.router.json5", settings.scratch);
    fs::write(&path, config.to_string()).map_err(|error| Error::from(format!("zenoh: {path}: {error}")))?;
    let program = std::env::current_exe().map_err(|error| Error::from(format!("zenoh: router: {error}")))?;
    let text = |text: String| -> &'static str { text.leak() };
    let endpoints = text(listen.join(" "));
    Ok(Companion {
        name: text(name),
        argv: vec![text(program.to_string_lossy().into_owned()), "--companion", text(path)],
        environment: BTreeMap::from([(ENDPOINTS, endpoints)]),
        ready_pattern: "^zenoh router is ready$",
        ..Companion::default()
    })
}

/// Runs the router with the configuration in `file` until SIGTERM.
pub fn run(file: &str) -> Result<()> {
    zenoh::init_log_from_env_or("off");
    let name = Path::new(file).display();
    // SAFETY: the set is local, and the calls read and write only this set and the mask of the process.
    let mut ending = unsafe { std::mem::zeroed() };
    unsafe {
        libc::sigemptyset(&mut ending);
        libc::sigaddset(&mut ending, libc::SIGTERM);
        libc::sigaddset(&mut ending, libc::SIGINT);
        libc::pthread_sigmask(libc::SIG_BLOCK, &ending, std::ptr::null_mut()); // before zenoh starts threads
    }
    let config = Config::from_file(file)
        .map_err(|error| Error::from(format!("zenoh: router: {name}: {}", without_place(&error))))?;
    let session = zenoh::open(config)
        .wait()
        .map_err(|error| Error::from(format!("zenoh: router: cannot listen: {}", without_place(&error))))?;
    println!("zenoh router is ready");
    let mut signal = 0;
    // SAFETY: as above.
    unsafe { libc::sigwait(&ending, &mut signal) };
    drop(session.close().wait());
    Ok(())
}
