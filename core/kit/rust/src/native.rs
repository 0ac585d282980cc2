//! The native settings of a middleware, declared once. The declaration determines which settings the adapter accepts,
//! which values the core refuses, the documentation, and the typed values. `core/kit/native.hpp` parses and checks the
//! values.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::description::{NativeSetting, NativeType};
use crate::settings::Text;

/// Native settings by key; a key that ends in '*' covers every key with that beginning.
pub type NativeTable = BTreeMap<&'static str, NativeSetting>;

/// A native setting of the trial that the core has accepted.
#[repr(C)]
pub struct NativeValue {
    pub key: Text<'static>,
    pub text: Text<'static>,
    /// The text as a number: 0 or 1 for a boolean, the index of a choice, bytes, or ns for a duration; otherwise 0.
    pub number: i64,
}

/// A type that members of a `native_settings!` struct can have.
pub trait Native: Sized {
    const TYPE: NativeType;
    const LEAST: Option<i64> = None;
    /// Replaces `self` by the value of one setting.
    fn read(&mut self, stem: &str, value: &NativeValue);
    /// Returns the value as text, to show it as the default; empty if there is no default to show.
    fn words(&self, choices: &[&'static str]) -> String;
}

impl Native for bool {
    const TYPE: NativeType = NativeType::Boolean;
    fn read(&mut self, _stem: &str, value: &NativeValue) {
        *self = value.number != 0;
    }
    fn words(&self, choices: &[&'static str]) -> String {
        choices.get(usize::from(*self)).map_or(self.to_string(), |word| word.to_string())
    }
}

macro_rules! whole_numbers {
    ($($type:ty)*) => {
        $(impl Native for $type {
            const TYPE: NativeType = NativeType::Integer;
            const LEAST: Option<i64> = Some(0);
            fn read(&mut self, _stem: &str, value: &NativeValue) {
                *self = <$type>::try_from(value.number).unwrap_or(<$type>::MAX);
            }
            fn words(&self, choices: &[&'static str]) -> String {
                choices.get(*self as usize).map_or(self.to_string(), |word| word.to_string())
            }
        })*
    };
}
whole_numbers!(u8 u32 usize u64);

impl Native for Duration {
    const TYPE: NativeType = NativeType::Duration;
    const LEAST: Option<i64> = Some(0);
    fn read(&mut self, _stem: &str, value: &NativeValue) {
        *self = Duration::from_nanos(value.number.unsigned_abs());
    }
    fn words(&self, _choices: &[&'static str]) -> String {
        format!("{self:?}")
    }
}

impl Native for String {
    const TYPE: NativeType = NativeType::Text;
    fn read(&mut self, _stem: &str, value: &NativeValue) {
        *self = value.text.to_string();
    }
    fn words(&self, _choices: &[&'static str]) -> String {
        self.clone()
    }
}

/// `None`: the middleware's own default.
impl<T: Native + Default> Native for Option<T> {
    const TYPE: NativeType = T::TYPE;
    const LEAST: Option<i64> = T::LEAST;
    fn read(&mut self, stem: &str, value: &NativeValue) {
        self.get_or_insert_with(T::default).read(stem, value);
    }
    fn words(&self, choices: &[&'static str]) -> String {
        self.as_ref().map_or(String::new(), |value| value.words(choices))
    }
}

/// For a key that ends in '*': one pair for each setting of the trial with such a key. The pair is the text that
/// replaces the star, and the value.
impl Native for Vec<(String, String)> {
    const TYPE: NativeType = NativeType::Text;
    fn read(&mut self, stem: &str, value: &NativeValue) {
        let rest = value.key.strip_prefix(stem).unwrap_or_default();
        self.push((rest.to_owned(), value.text.to_string()));
    }
    fn words(&self, _choices: &[&'static str]) -> String {
        String::new()
    }
}

impl NativeSetting {
    /// Sets the type, the lowest number and the text of the default, if `native_settings!` has left them empty.
    pub fn complete<T: Native>(mut self, otherwise: &T) -> Self {
        if self.kind == NativeType::Text {
            self.kind = if self.choices.is_empty() { T::TYPE } else { NativeType::Choice };
        }
        if self.kind != NativeType::Choice {
            self.least = self.least.or(T::LEAST);
        }
        if self.otherwise.is_empty() {
            self.otherwise = otherwise.words(&self.choices).leak();
        }
        self
    }

    /// Returns `None` if `given` is not covered by `key`. Otherwise returns the part of `key` with which `given` begins:
    /// the whole key, or the part before a final '*'.
    pub fn fits<'a>(key: &'a str, given: &str) -> Option<&'a str> {
        match key.strip_suffix('*') {
            Some(stem) => given.starts_with(stem).then_some(stem),
            None => (key == given).then_some(key),
        }
    }
}

/// Declares a struct of native settings. The doc comment of a member is the setting's help; the brackets contain other
/// fields of [`NativeSetting`].
///
/// ```
/// middlemark_adapter::native_settings! {
///     pub struct Native {
///         /// messages that a channel holds
///         fifo_capacity: usize = 256 => [least: Some(1),],
///         /// what a full channel loses
///         channel: Option<bool> = None => [choices: vec!["newest", "oldest"], otherwise: "newest",],
///         /// any path of the configuration
///         "config.*" config: Vec<(String, String)> = Vec::new() => [],
///     }
/// }
/// ```
///
/// The description then has `native: Native::table()`, and the adapter reads the values with `Native::of(settings)`.
#[macro_export]
macro_rules! native_settings {
    ($(#[$about:meta])* $sees:vis struct $name:ident {
        $($(#[doc = $help:literal])* $($key:literal)? $field:ident: $type:ty = $default:expr => [$($more:tt)*],)*
    }) => {
        $(#[$about])*
        $sees struct $name { $($(#[doc = $help])* pub $field: $type,)* }

        impl Default for $name {
            fn default() -> Self {
                Self { $($field: $default,)* }
            }
        }

        impl $name {
            pub fn table() -> $crate::NativeTable {
                let defaults = Self::default();
                $crate::NativeTable::from([$((
                    $crate::native_settings!(@key $field $($key)?),
                    $crate::NativeSetting {
                        help: concat!($($help),*).trim(),
                        $($more)*
                        ..Default::default()
                    }
                    .complete(&defaults.$field),
                ),)*])
            }

            pub fn of(settings: &$crate::Settings) -> Self {
                let mut native = Self::default();
                for value in settings.native() {
                    $(
                        let key = $crate::native_settings!(@key $field $($key)?);
                        if let Some(stem) = $crate::NativeSetting::fits(key, &value.key) {
                            $crate::Native::read(&mut native.$field, stem, value);
                            continue;
                        }
                    )*
                }
                native
            }
        }
    };
    (@key $field:ident) => { stringify!($field) };
    (@key $field:ident $key:literal) => { $key };
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{List, Pattern, Settings};

    crate::native_settings! {
        struct Options {
            /// number of
            /// channels
            count: u32 = 4 => [most: Some(9),],
            /// which message a full channel loses
            lost: Option<bool> = None => [choices: vec!["newest", "oldest"], patterns: vec![Pattern::Stream],],
            /// time between two polls
            pause: Duration = Duration::from_millis(5) => [],
            /// other settings
            "more.*" more: Vec<(String, String)> = Vec::new() => [],
        }
    }

    #[test]
    fn a_table_contains_what_the_core_needs_to_check_and_document_the_settings() {
        let table = Options::table();
        let (count, lost) = (&table["count"], &table["lost"]);
        assert_eq!((count.kind, count.least, count.most), (NativeType::Integer, Some(0), Some(9)));
        assert_eq!((count.otherwise, count.help), ("4", "number of channels"));
        assert_eq!((lost.kind, lost.least, &*lost.choices), (NativeType::Choice, None, &["newest", "oldest"][..]));
        assert_eq!((lost.otherwise, &*lost.patterns), ("", &[Pattern::Stream][..]));
        assert_eq!(table["pause"].otherwise, "5ms");
    }

    #[test]
    fn a_key_matches_its_whole_name_or_the_part_before_a_star() {
        assert_eq!(NativeSetting::fits("count", "count"), Some("count"));
        assert_eq!(NativeSetting::fits("count", "counter"), None);
        assert_eq!(NativeSetting::fits("more.*", "more.depth"), Some("more."));
        assert_eq!(NativeSetting::fits("more.*", "mode"), None);
    }

    #[test]
    fn the_values_of_the_trial_replace_the_defaults() {
        let value = |key, text, number| NativeValue { key: Text::of(key), text: Text::of(text), number };
        let given = vec![value("lost", "oldest", 1), value("more.depth", "8", 0), value("more.size", "9", 0)];
        let mut settings: Settings = unsafe { std::mem::zeroed() };
        settings.native = List::of(given.leak());
        let options = Options::of(&settings);
        assert_eq!((options.count, options.lost, options.pause), (4, Some(true), Duration::from_millis(5)));
        assert_eq!(options.more, [("depth".into(), "8".into()), ("size".into(), "9".into())]);
    }
}
