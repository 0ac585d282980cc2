//! What an adapter says of itself, and how it crosses to C++: as JSON, once, before anything runs. See `core/settings.hpp`.

use std::fmt::Write;

use crate::native::NativeSetting;
use crate::settings::{Pattern, Security};

pub(crate) trait Json {
    fn write_to(&self, json: &mut String);
}

/// A struct with defaults, whose fields are what its JSON has.
macro_rules! described {
    ($(#[$about:meta])* pub struct $name:ident {
        $($(#[$what:meta])* $field:ident: $type:ty = $default:expr,)*
    }) => {
        $(#[$about])*
        pub struct $name { $($(#[$what])* pub $field: $type,)* }

        impl Default for $name {
            fn default() -> Self {
                Self { $($field: $default,)* }
            }
        }

        impl $crate::description::Json for $name {
            fn write_to(&self, json: &mut String) {
                let mut before = '{';
                $(
                    json.push(before);
                    json.push_str(concat!("\"", stringify!($field), "\":"));
                    $crate::description::Json::write_to(&self.$field, json);
                    before = ',';
                )*
                let _ = before;
                json.push('}');
            }
        }
    };
}
pub(crate) use described;

described! {
    /// What an adapter says of itself without opening the middleware. Whether it has request and reply of its own, `worker!` says.
    pub struct Description {
        /// The folder's name.
        name: &'static str = "",
        /// As people call it.
        title: &'static str = "",
        /// Of the middleware that is used.
        version: String = String::new(),
        /// Path of its shared library; empty when there is none.
        library: String = String::new(),
        /// SPDX.
        licence: &'static str = "",
        /// It is what the machine can do, not a middleware.
        floor: bool = false,
        /// It tests the bench itself and is never part of "all".
        bench_only: bool = false,
        /// The first is the default.
        transports: Vec<Transport> = Vec::new(),
        /// What of a set of certificates it reads: "x509", "dds", "curve"; see `docs/security.md`.
        credentials: Vec<&'static str> = Vec::new(),
        /// The middleware receives on threads of its own, which need a processor beside a polling role.
        own_threads: bool = false,
        /// Absolute globs (`{scope}` is replaced) of what a killed worker may leave behind.
        residue: Vec<String> = Vec::new(),
        /// Every native setting that it accepts: `table()` of what `native_settings!` makes.
        native: Vec<NativeSetting> = Vec::new(),
    }
}

described! {
    /// What one transport can carry. Everything not listed is refused before anything runs.
    pub struct Transport {
        /// Unique within the adapter. "default": the middleware as it comes, see `core/settings.hpp`.
        name: &'static str = "",
        /// What must be seen to move: "shared-memory", "udp", "tcp", "unix-socket", "message-queue", "process-memory"; "any": the
        /// middleware chooses.
        carrier: &'static str = "",
        /// For shared memory: globs of file names under /dev/shm, one of which must be mapped.
        segments: Vec<String> = Vec::new(),
        /// 1: both roles in one process; 2: each role in its own.
        processes: Vec<u32> = vec![1, 2],
        receive: Vec<&'static str> = vec!["poll", "block", "listen"],
        reliability: Vec<&'static str> = vec!["reliable", "best-effort"],
        /// `[false]`, `[true]` or both.
        loan: Vec<bool> = vec![false],
        /// At which of those levels a receiver is given a pointer or the index of a chunk, and nothing copies the bytes; none: it copies.
        hands_over: Vec<bool> = Vec::new(),
        /// The largest message.
        max_bytes: usize = 64 << 20,
        /// How to lift it; empty when it cannot be lifted.
        max_bytes_advice: String = String::new(),
        /// `None`: no bound.
        max_depth: Option<u32> = None,
        /// Keep-all history can be honoured.
        keep_all: bool = true,
        /// A daemon is needed: see `Adapter::companions`.
        companions: bool = false,
        /// Nobody else takes part: a ping without pongs, whose own take brings back what it published.
        alone: bool = false,
        /// Messages of a topic may be shorter than its largest.
        varying_sizes: bool = false,
        /// The levels that it has; see `Adapter::protected_by`.
        security: Vec<Security> = vec![Security::None],
        /// Why it has no others; empty: nothing is to be said of it.
        security_why: &'static str = "",
        /// At those levels its peers give nothing to who is of the authority and has no permission.
        permissions: bool = false,
    }
}

described! {
    /// A daemon that has to run while workers do.
    pub struct Companion {
        name: String = String::new(),
        argv: Vec<String> = Vec::new(),
        /// Name and value, for the companion and for every worker of the trial.
        environment: Vec<(String, String)> = Vec::new(),
        /// Regular expression over a line of its stdout or stderr that says it is ready.
        ready_pattern: String = String::new(),
        ready_timeout_s: u32 = 10,
    }
}

impl Json for str {
    fn write_to(&self, json: &mut String) {
        json.push('"');
        for each in self.chars() {
            match each {
                '"' | '\\' => json.extend(['\\', each]),
                control if control < ' ' => {
                    let _ = write!(json, "\\u{:04x}", control as u32);
                }
                plain => json.push(plain),
            }
        }
        json.push('"');
    }
}

impl Json for &str {
    fn write_to(&self, json: &mut String) {
        (**self).write_to(json);
    }
}

impl Json for String {
    fn write_to(&self, json: &mut String) {
        self.as_str().write_to(json);
    }
}

macro_rules! as_it_is_shown {
    ($($type:ty)*) => {
        $(impl Json for $type {
            fn write_to(&self, json: &mut String) {
                let _ = write!(json, "{self}");
            }
        })*
    };
}
as_it_is_shown!(bool u32 i64 usize);

impl Json for Pattern {
    fn write_to(&self, json: &mut String) {
        (*self as u32).write_to(json);
    }
}

impl Json for Security {
    fn write_to(&self, json: &mut String) {
        (*self as u32).write_to(json);
    }
}

impl<T: Json> Json for Option<T> {
    fn write_to(&self, json: &mut String) {
        match self {
            Some(value) => value.write_to(json),
            None => json.push_str("null"),
        }
    }
}

impl<T: Json> Json for Vec<T> {
    fn write_to(&self, json: &mut String) {
        json.push('[');
        for (place, each) in self.iter().enumerate() {
            if place > 0 {
                json.push(',');
            }
            each.write_to(json);
        }
        json.push(']');
    }
}

impl Json for (String, String) {
    fn write_to(&self, json: &mut String) {
        vec![self.0.as_str(), self.1.as_str()].write_to(json);
    }
}

pub(crate) fn json_of(value: &impl Json) -> String {
    let mut json = String::new();
    value.write_to(&mut json);
    json
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_text_may_hold_is_escaped() {
        assert_eq!(json_of(&"a \"b\" \\ \n é"), r#""a \"b\" \\ \u000a é""#);
    }

    #[test]
    fn a_transport_is_an_object_with_its_defaults() {
        let transport = Transport { name: "shm", loan: vec![false, true], max_depth: Some(7), ..Transport::default() };
        assert_eq!(
            json_of(&transport),
            concat!(
                r#"{"name":"shm","carrier":"","segments":[],"processes":[1,2],"receive":["poll","block","listen"],"#,
                r#""reliability":["reliable","best-effort"],"loan":[false,true],"hands_over":[],"max_bytes":67108864,"#,
                r#""max_bytes_advice":"","max_depth":7,"keep_all":true,"companions":false,"alone":false,"varying_sizes":false,"#,
                r#""security":[0],"security_why":"","permissions":false}"#
            )
        );
    }
}
