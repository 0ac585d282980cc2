//! The node of this process, set apart from every other iceoryx2 on the machine.

use std::error::Error;
use std::fs::File;
use std::os::fd::AsRawFd;
use std::time::Duration;

use iceoryx2::prelude::*;

pub type Ipc = ipc::Service;
pub type Outcome<T> = Result<T, Box<dyn Error>>;

/// What every end of the trial has in common.
#[derive(Clone)]
pub struct Rules {
    pub scope: String,
    pub reliable: bool,
    /// A full buffer loses its oldest message instead of holding the sender up or refusing the newest.
    pub overflows: bool,
    /// Receivers sleep: each message is followed by a notification.
    pub blocks: bool,
    pub loans: bool,
    pub nodes: usize,
    /// Messages that a receiver's buffer holds of each sender.
    pub buffer: usize,
    pub alignment: Option<usize>,
    pub write_timeout: Duration,
}

pub struct Trial {
    pub node: Node<Ipc>,
    pub rules: Rules,
    _root: File,
}

/// A topic or service and who takes part in it.
pub struct Topic {
    pub name: String,
    pub bytes: usize,
    pub publishers: usize,
    pub subscribers: usize,
}

impl Trial {
    pub fn open(rules: Rules, scratch: &str) -> Outcome<Self> {
        set_log_level(LogLevel::Error);
        let root = File::open(scratch)?;
        let node = NodeBuilder::new()
            .name(&NodeName::new(&rules.scope)?)
            .config(&config(&rules.scope, &root)?)
            .signal_handling_mode(SignalHandlingMode::Disabled)
            .create::<Ipc>()?;
        Ok(Self {
            node,
            rules,
            _root: root,
        })
    }

    pub fn service_name(&self, topic: &Topic) -> Outcome<ServiceName> {
        Ok(ServiceName::new(&topic.name)?)
    }
}

/// The library's own defaults, whatever configuration files lie around. Files go into the trial's folder; its path may
/// be longer than the address of a Unix socket allows, so it is named by its descriptor. Shared memory has no folders:
/// there the prefix tells trials apart. Who is killed is cleared away by the launcher, so nobody looks for dead nodes.
fn config(scope: &str, root: &File) -> Outcome<Config> {
    let mut config = Config::default();
    let path = format!("/proc/self/fd/{}", root.as_raw_fd());
    config.global.set_root_path(&Path::new(path.as_bytes())?);
    config.global.prefix = FileName::new(format!("middlemark-iox2.{scope}_").as_bytes())?;
    config.global.creation_timeout = Duration::from_secs(10);
    config.global.service.cleanup_dead_nodes_on_open = false;
    config.global.node.cleanup_dead_nodes_on_creation = false;
    config.global.node.cleanup_dead_nodes_on_destruction = false;
    Ok(config)
}
