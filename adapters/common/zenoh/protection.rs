//! Protects a trial: TLS with certificates on both sides of every link, and zenoh's access control, which gives
//! permissions only to the certificates of sender and receiver.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use middlemark_adapter::{Error, Identity, Result, Security, Settings};
use x509_parser::extensions::GeneralName;
use x509_parser::pem::parse_x509_pem;
use x509_parser::public_key::PublicKey;
use zenoh::{Session, Wait};

use super::heard;
use super::Native;

const VERIFIES_NAMES: &str = "transport/link/tls/verify_name_on_connect";

pub struct Protection {
    settings: &'static Settings,
    /// Common names in the certificates of sender and receiver, with which access control and this module identify a
    /// peer.
    parties: BTreeSet<String>,
    /// Kinds of the keys in these certificates.
    keys: BTreeSet<String>,
}

impl Protection {
    /// Returns the protection that the settings request; `None` for a trial without security.
    pub fn of(settings: &'static Settings, native: &Native) -> Result<Option<Self>> {
        if settings.security == Security::None {
            return Ok(None);
        }
        let mut protection = Self { settings, parties: BTreeSet::new(), keys: BTreeSet::new() };
        for party in [Identity::Sender, Identity::Receiver] {
            let shown = Certificate::read(&settings.credential(party.word(), ".pem"))?;
            protection.parties.insert(shown.name);
            protection.keys.insert(shown.key);
        }
        if native.config.iter().all(|(path, json5)| path != VERIFIES_NAMES || json5 != "false") {
            protection.is_reached_by_name()?;
        }
        Ok(Some(protection))
    }

    /// Fails if the certificate is not valid for this process's address, because peers would refuse it and zenoh would
    /// report no reason.
    fn is_reached_by_name(&self) -> Result<()> {
        let path = self.file(".pem");
        let address = self.settings.ipv4()?;
        if Certificate::read(&path)?.addresses.contains(address) {
            return Ok(());
        }
        Err(Error::new(
            format!("zenoh: {}: not valid for {address}, the address that peers connect to", path.display()),
            format!("add the address as a subject alternative name, or set native.config.{VERIFIES_NAMES}=false"),
        ))
    }

    fn file(&self, ending: &str) -> PathBuf {
        self.settings.credential(self.settings.identity.word(), ending)
    }

    /// Configures TLS and permissions. Called last, so that the user's configuration cannot override them.
    pub fn configure(&self, set: &mut impl FnMut(&str, &str) -> Result<()>) -> Result<()> {
        let certificate = text(&self.file(".pem"));
        let key = text(&self.file(".key"));
        for (path, value) in [
            ("root_ca_certificate", &text(&self.settings.credential("ca", ".pem"))),
            ("listen_certificate", &certificate),
            ("listen_private_key", &key),
            ("connect_certificate", &certificate),
            ("connect_private_key", &key),
            ("enable_mtls", &"true".to_owned()),
        ] {
            set(&format!("transport/link/tls/{path}"), value)?;
        }
        set("transport/shared_memory/enabled", "false")?; // encryption protects links, not segments
        set("access_control", &self.permissions())
    }

    /// Returns the permissions: sender and receiver may do everything, others nothing.
    fn permissions(&self) -> String {
        format!(
            r#"{{
                enabled: true,
                default_permission: "deny",
                rules: [{{ id: "all", permission: "allow", flows: ["ingress", "egress"], key_exprs: ["**"], messages: [
                    "put", "delete", "declare_subscriber", "query", "declare_queryable", "reply",
                    "liveliness_token", "declare_liveliness_subscriber", "liveliness_query",
                ] }}],
                subjects: [{{ id: "parties", cert_common_names: {:?} }}],
                policies: [{{ rules: ["all"], subjects: ["parties"] }}],
            }}"#,
            Vec::from_iter(&self.parties)
        )
    }

    /// Returns the algorithms on all links, as logged by rustls; empty if a link's peer has another certificate than
    /// sender and receiver.
    pub fn words(&self, zenoh: &Session) -> String {
        let suites = heard::suites();
        let protected = zenoh.info().links().wait().all(|link| {
            let is_party = link.auth_identifier().is_some_and(|name| self.parties.contains(name));
            is_party && ["tls", "quic"].contains(&link.dst().protocol().as_str())
        });
        if !protected || suites.is_empty() {
            return String::new();
        }
        let quic = if self.settings.transport == "udp" { "QUIC with " } else { "" };
        format!("{quic}TLS 1.3: {}, certificates of both ends ({})", joined(&suites), joined(&self.keys))
    }
}

fn text(path: &Path) -> String {
    format!("{:?}", path.to_string_lossy())
}

fn joined(words: &BTreeSet<String>) -> String {
    words.iter().map(String::as_str).collect::<Vec<_>>().join(", ")
}

struct Certificate {
    name: String,
    key: String,
    addresses: BTreeSet<String>,
}

impl Certificate {
    fn read(path: &Path) -> Result<Self> {
        let failed = |what: String| Error::from(format!("zenoh: {}: {what}", path.display()));
        let content = fs::read(path).map_err(|error| failed(error.to_string()))?;
        let (_, pem) = parse_x509_pem(&content).map_err(|_| failed("contains no certificate in PEM".into()))?;
        let shown = pem.parse_x509().map_err(|error| failed(format!("is no certificate: {error}")))?;
        let name = shown.subject().iter_common_name().next().and_then(|name| name.as_str().ok());
        let name = name.ok_or_else(|| failed("its subject has no common name (CN), which permissions need".into()))?;
        let key = match shown.public_key().parsed() {
            Ok(PublicKey::EC(point)) => format!("EC, {} bits", point.key_size()),
            Ok(PublicKey::RSA(key)) => format!("RSA, {} bits", key.key_size()),
            _ => format!("algorithm {}", shown.public_key().algorithm.algorithm),
        };
        let names = shown.subject_alternative_name().ok().flatten();
        let addresses = names.iter().flat_map(|names| &names.value.general_names).filter_map(|each| match each {
            GeneralName::IPAddress(&[a, b, c, d]) => Some(std::net::Ipv4Addr::new(a, b, c, d).to_string()),
            _ => None,
        });
        Ok(Self { name: name.to_owned(), key, addresses: addresses.collect() })
    }
}
