//! How the structs of description.rs stand in JSON.

use std::collections::BTreeMap;
use std::fmt::Write;

pub(crate) trait Json {
    fn write_to(&self, json: &mut String);
}

pub(crate) fn json_of(value: &impl Json) -> String {
    let mut json = String::new();
    value.write_to(&mut json);
    json
}

/// Each field with its name.
pub(crate) fn object(json: &mut String, fields: &[(&str, &dyn Json)]) {
    let mut before = '{';
    for (name, value) in fields {
        json.push(before);
        name.write_to(json);
        json.push(':');
        value.write_to(json);
        before = ',';
    }
    json.push_str(if fields.is_empty() { "{}" } else { "}" });
}

impl Json for &str {
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

macro_rules! as_it_is_shown {
    ($($type:ty)*) => {
        $(impl Json for $type {
            fn write_to(&self, json: &mut String) {
                let _ = write!(json, "{self}");
            }
        })*
    };
}
as_it_is_shown!(bool i32 u32 i64 usize f64);

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

impl<T: Json> Json for BTreeMap<&'static str, T> {
    fn write_to(&self, json: &mut String) {
        let fields: Vec<(&str, &dyn Json)> = self.iter().map(|(name, value)| (*name, value as &dyn Json)).collect();
        object(json, &fields);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::description::*;

    /// Nothing has its default. `tests/unit/test_descriptions.py` reads the same file.
    #[test]
    fn an_adapter_can_say_everything_that_the_schema_has() {
        let transport = Transport {
            name: "shm",
            carrier: "shared-memory",
            segments: vec!["north.*"],
            processes: vec![2],
            receive: vec![Reception::Listen],
            reliability: vec![Reliability::BestEffort],
            loan: vec![false, true],
            hands_over: vec![true],
            max_bytes: 4096,
            max_bytes_advice: "a larger segment",
            max_depth: Some(7),
            keep_all: false,
            companions: true,
            own_network: true,
            alone: true,
            best_effort_carrier: "udp",
            types: vec![MessageType::Octets, MessageType::PointCloud],
            varying_sizes: true,
            services: true,
            max_history: None,
            security: vec![Security::None, Security::Signed],
            security_why: "its handshake signs at once",
            permissions: true,
        };
        let setting = NativeSetting {
            help: "the segment",
            least: Some(4096),
            most: Some(1 << 20),
            choices: vec!["auto"],
            transports: vec!["shm"],
            patterns: vec![Pattern::Stream],
            otherwise: "64KiB",
            kind: NativeType::Bytes,
            allowed: "a size",
        };
        let north = Description {
            protocol: 1,
            name: "north",
            title: "North Star \"DDS\"",
            version: "1.2.3",
            library: "/usr/lib/libnorth.so.1.2.3",
            licence: "Apache-2.0",
            floor: true,
            bench_only: true,
            transports: vec![transport],
            request_reply: true,
            credentials: vec![Credential::X509, Credential::Curve],
            own_threads: true,
            residue: vec!["/tmp/north.{scope}"],
            native: BTreeMap::from([("segment", setting)]),
        };
        assert_eq!(json_of(&north), include_str!("full_description.json").trim());
    }

    #[test]
    fn a_companion_can_say_everything_that_the_schema_has() {
        let daemon = Companion {
            name: "northd",
            argv: vec!["/usr/bin/northd", "-v"],
            environment: BTreeMap::from([("NORTH", "1")]),
            ready_pattern: "^ready",
            ready_timeout_s: 2.5,
        };
        let said = r#"{"name":"northd","argv":["/usr/bin/northd","-v"],"environment":{"NORTH":"1"},"#;
        assert_eq!(json_of(&daemon), format!(r#"{said}"ready_pattern":"^ready","ready_timeout_s":2.5}}"#));
    }

    #[test]
    fn what_a_text_may_hold_is_escaped() {
        assert_eq!(json_of(&"a \"b\" \\ \n é"), r#""a \"b\" \\ \u000a é""#);
    }

    #[test]
    fn what_is_absent_is_null_and_what_is_empty_is_there() {
        let counts = BTreeMap::from([("none", None), ("some", Some(3u32))]);
        assert_eq!(json_of(&counts), r#"{"none":null,"some":3}"#);
        assert_eq!(json_of(&BTreeMap::<&str, u32>::new()), "{}");
        assert_eq!(json_of(&vec![true, false]), "[true,false]");
        assert_eq!(json_of(&Vec::<u32>::new()), "[]");
    }
}
