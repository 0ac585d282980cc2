//! Records the calls with which an adapter sets up its middleware, as lines of code for `Adapter::own_settings`.

use std::cell::RefCell;

use crate::OwnSettings;

/// Blocks of lines, each below a comment with the name of the object that the lines set up. A block that is added twice
/// appears once.
#[derive(Default)]
pub struct Code(RefCell<Vec<String>>);

impl Code {
    pub fn add(&self, object: &str, lines: &str) {
        let block = format!("// {object}\n{lines}");
        let mut blocks = self.0.borrow_mut();
        if !blocks.contains(&block) {
            blocks.push(block);
        }
    }

    /// Returns `None` if nothing was recorded.
    pub fn settings(&self) -> Option<OwnSettings> {
        let text = self.0.borrow().concat();
        (!text.is_empty()).then_some(OwnSettings { language: "rust", text })
    }
}

/// Calls methods of a builder and records them: `applied!(code, "publisher", builder, max_loaned_samples(1))`. Each
/// value is evaluated once, and its type must implement `Debug`.
#[macro_export]
macro_rules! applied {
    ($code:expr, $object:expr, $builder:expr $(, $method:ident($value:expr))* $(,)?) => {{
        let builder = $builder;
        let mut lines = String::new();
        $(
            let value = $value;
            lines.push_str(&format!(concat!(".", stringify!($method), "({:?})\n"), value));
            let builder = builder.$method(value);
        )*
        $code.add($object, &lines);
        builder
    }};
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Builder(Vec<usize>);

    impl Builder {
        fn depth(mut self, depth: usize) -> Self {
            self.0.push(depth);
            self
        }
        fn name(self, _name: &str) -> Self {
            self
        }
    }

    #[test]
    fn the_recorded_calls_are_those_that_were_made() {
        let (code, mut next) = (Code::default(), 0);
        let mut counted = || {
            next += 1;
            next
        };
        let made = applied!(code, "publisher", Builder(Vec::new()), depth(counted()), name("a"), depth(7));
        assert_eq!(made.0, [1, 7]);
        let settings = code.settings().unwrap();
        assert_eq!(settings.language, "rust");
        assert_eq!(settings.text, "// publisher\n.depth(1)\n.name(\"a\")\n.depth(7)\n");
    }

    #[test]
    fn equal_blocks_are_kept_once() {
        let code = Code::default();
        assert_eq!(code.settings(), None);
        code.add("reader", ".depth(1)\n");
        code.add("reader", ".depth(1)\n");
        code.add("reader", ".depth(2)\n");
        assert_eq!(code.settings().unwrap().text, "// reader\n.depth(1)\n// reader\n.depth(2)\n");
    }
}
