//! The settings of a session in zenoh's own form: its configuration as JSON5, followed by comments with the
//! declarations of publishers, queriers and subscribers.

use std::fmt::Write;

use middlemark_adapter::OwnSettings;

/// The values that were set in the configuration, as a tree: each level is a part of their paths.
#[derive(Clone, Default)]
pub struct Applied {
    branches: Vec<(String, Value)>,
    comments: Vec<String>,
    replaced: Vec<String>,
}

#[derive(Clone)]
enum Value {
    Json5(String),
    Branch(Applied),
}

impl Applied {
    /// Records a value. Certificates, keys and endpoints are only for this trial, so it records only a comment that
    /// they were set.
    pub fn set(&mut self, path: &str, json5: &str) {
        if path.ends_with("_certificate") || path.ends_with("_private_key") {
            self.comment(&format!("{path}: your file"));
        } else if path.ends_with("/endpoints") {
            let scheme = json5.trim_start_matches(['[', '"']).split('/').next().unwrap_or_default();
            if scheme != "]" {
                self.comment(&format!("listen and connect: your own endpoints, as {scheme}/…"));
            }
        } else {
            self.put(path, json5);
        }
    }

    /// Adds a comment, unless it was added before.
    pub fn comment(&mut self, text: &str) {
        if self.comments.iter().all(|each| each != text) {
            self.comments.push(text.to_owned());
        }
    }

    /// Records a value of the user's own configuration that the trial replaced.
    pub fn replaced(&mut self, path: &str, before: &str) {
        let text = format!("{path} {before}");
        if !self.replaced.contains(&text) {
            self.replaced.push(text);
        }
    }

    pub fn note(&self) -> String {
        if self.replaced.is_empty() {
            return "config: the trial replaces none of its values".into();
        }
        format!("config: the trial replaces {}", self.replaced.join(", "))
    }

    fn put(&mut self, path: &str, json5: &str) {
        let (first, rest) = path.split_once('/').map_or((path, None), |(first, rest)| (first, Some(rest)));
        let at = self.branches.iter().position(|(name, _)| name == first).unwrap_or_else(|| {
            self.branches.push((first.to_owned(), Value::Branch(Self::default())));
            self.branches.len() - 1
        });
        let value = &mut self.branches[at].1;
        match (rest, &mut *value) {
            (Some(rest), Value::Branch(branch)) => branch.put(rest, json5),
            (Some(rest), Value::Json5(_)) => {
                let mut branch = Self::default();
                branch.put(rest, json5);
                *value = Value::Branch(branch);
            }
            (None, _) => *value = Value::Json5(json5.split_whitespace().collect::<Vec<_>>().join(" ")),
        }
    }

    pub fn settings(&self) -> OwnSettings {
        let mut text = String::new();
        self.write(&mut text, 0);
        text.push('\n');
        for each in &self.comments {
            let _ = writeln!(text, "// {each}");
        }
        OwnSettings { language: "json5", text }
    }

    fn write(&self, text: &mut String, depth: usize) {
        text.push_str("{\n");
        for (name, value) in &self.branches {
            let _ = write!(text, "{:indent$}{name}: ", "", indent = 2 * depth + 2);
            match value {
                Value::Json5(json5) => text.push_str(json5),
                Value::Branch(branch) => branch.write(text, depth + 1),
            }
            text.push_str(",\n");
        }
        let _ = write!(text, "{:indent$}}}", "", indent = 2 * depth);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_become_nested_objects_and_the_last_value_of_a_path_counts() {
        let mut applied = Applied::default();
        applied.set("mode", "\"peer\"");
        applied.set("transport/link/tx/batch_size", "100");
        applied.set("transport/link/tx/batch_size", "200");
        applied.set("transport/shared_memory/enabled", "false");
        let text = applied.settings().text.replace(['\n', ' '], "");
        assert_eq!(text, "{mode:\"peer\",transport:{link:{tx:{batch_size:200,},},shared_memory:{enabled:false,},},}");
    }

    #[test]
    fn addresses_and_the_names_of_key_files_are_left_out() {
        let mut applied = Applied::default();
        applied.set("listen/endpoints", "[]");
        applied.set("listen/endpoints", "[\"tcp/127.0.0.1:7\"]");
        applied.set("connect/endpoints", "[\"tcp/127.0.0.1:8\"]");
        applied.set("transport/link/tls/listen_private_key", "\"/secret/a.key\"");
        let text = applied.settings().text;
        let endpoints = "// listen and connect: your own endpoints, as tcp/…\n";
        assert_eq!(text, format!("{{\n}}\n{endpoints}// transport/link/tls/listen_private_key: your file\n"));
    }
}
