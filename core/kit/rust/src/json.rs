//! Writes the structs of description.rs as JSON.

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

/// Declares an enumeration with the word of each variant.
macro_rules! words {
    ($(#[$about:meta])* pub enum $name:ident { $($variant:ident = $word:literal),* }) => {
        $(#[$about])*
        #[repr(i32)]
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum $name { $($variant),* }
        impl $name {
            pub fn word(self) -> &'static str {
                [$($word),*][self as usize]
            }
        }
        impl $crate::json::Json for $name {
            fn write_to(&self, json: &mut String) {
                self.word().write_to(json);
            }
        }
    };
}
pub(crate) use words;

/// Declares a struct with the key in JSON, the type and the default of each field.
macro_rules! described {
    ($(#[$about:meta])* pub struct $name:ident {
        $($(#[$doc:meta])* $key:literal => pub $member:ident: $kind:ty = $initial:expr,)*
    }) => {
        $(#[$about])*
        #[derive(Clone, Debug)]
        pub struct $name { $($(#[$doc])* pub $member: $kind,)* }
        impl Default for $name {
            fn default() -> Self {
                Self { $($member: $initial,)* }
            }
        }
        impl $crate::json::Json for $name {
            fn write_to(&self, json: &mut String) {
                $crate::json::object(json, &[$(($key, &self.$member),)*]);
            }
        }
    };
}
pub(crate) use described;

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

    #[test]
    fn quotes_backslashes_and_control_characters_are_escaped() {
        assert_eq!(json_of(&"a \"b\" \\ \n é"), r#""a \"b\" \\ \u000a é""#);
    }

    #[test]
    fn an_absent_value_is_null_and_an_empty_collection_is_written() {
        let counts = BTreeMap::from([("none", None), ("some", Some(3u32))]);
        assert_eq!(json_of(&counts), r#"{"none":null,"some":3}"#);
        assert_eq!(json_of(&BTreeMap::<&str, u32>::new()), "{}");
        assert_eq!(json_of(&vec![true, false]), "[true,false]");
        assert_eq!(json_of(&Vec::<u32>::new()), "[]");
    }
}
