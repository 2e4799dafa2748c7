//! Many similar trees as data. Findings share functions, lines and stacks, so each distinct node is stored once:
//! text as a string, an element as its tag, its attributes and the indices of its children.

use indexmap::IndexSet;

use crate::markup::{Element, Node};

/// The nodes, each as JSON, and what was added.
#[derive(Default)]
pub(super) struct Table {
    nodes: IndexSet<String>,
    findings: Vec<[usize; 2]>,
}

impl Table {
    /// Adds the summary and the body of a finding.
    pub(super) fn add(&mut self, parts: [Element; 2]) {
        let parts = parts.map(|part| self.element(&part));
        self.findings.push(parts);
    }

    fn element(&mut self, element: &Element) -> usize {
        let mut node = String::from("[");
        push_quoted(&mut node, element.tag);
        node.push_str(",{");
        for (index, (name, value)) in element.attributes.iter().enumerate() {
            node.push_str(if index == 0 { "" } else { "," });
            push_quoted(&mut node, name);
            node.push(':');
            push_quoted(&mut node, value);
        }
        node.push('}');
        for child in &element.children {
            let child = match child {
                Node::Text(text) => self.text(text),
                Node::Element(element) => self.element(element),
            };
            node.push(',');
            node.push_str(&child.to_string());
        }
        node.push(']');
        self.nodes.insert_full(node).0
    }

    fn text(&mut self, text: &str) -> usize {
        let mut node = String::with_capacity(text.len() + 2);
        push_quoted(&mut node, text);
        self.nodes.insert_full(node).0
    }

    pub(super) fn into_json(self) -> String {
        let nodes: Vec<String> = self.nodes.into_iter().collect();
        let findings: Vec<String> =
            self.findings.iter().map(|[row, body]| format!("[{row},{body}]")).collect();
        format!("{{\"nodes\":[\n{}\n],\"findings\":[{}]}}", nodes.join(",\n"), findings.join(","))
    }
}

/// Appends the text as a string of JSON that cannot end the element it stands in, nor begin another.
pub(super) fn push_quoted(json: &mut String, text: &str) {
    json.push('"');
    for character in text.chars() {
        match character {
            '"' => json.push_str("\\\""),
            '\\' => json.push_str("\\\\"),
            '<' | '\0'..=' ' if character != ' ' => {
                json.push_str(&format!("\\u{:04x}", u32::from(character)))
            }
            _ => json.push(character),
        }
    }
    json.push('"');
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::markup::element;

    #[test]
    fn equal_parts_are_stored_once() {
        let mut table = Table::default();
        let part = || element("p").attribute("class", "a").child(element("b").text("x")).text("y").text("x");
        table.add([part(), element("i").child(part())]);
        table.add([part(), part()]);
        let expected = r#"{"nodes":[
"x",
["b",{},0],
"y",
["p",{"class":"a"},1,2,0],
["i",{},3]
],"findings":[[3,4],[3,3]]}"#;
        assert_eq!(table.into_json(), expected);
    }

    #[test]
    fn any_text_is_quoted() {
        for text in ["", "a\"b\\", "\0\t\n\u{1f} \u{7f}", "<>&'/", "größe 👩\u{200d}💻 \u{2028}"] {
            let mut json = String::new();
            push_quoted(&mut json, text);
            assert_eq!(serde_json::from_str::<String>(&json).unwrap(), text);
        }
    }

    #[test]
    fn no_text_ends_the_element_of_the_data() {
        let mut table = Table::default();
        table.add([element("p").text("</script>"), element("p").attribute("title", "<!--")]);
        let json = table.into_json();
        assert!(!json.contains('<'), "{json}");
        let value: serde_json::Value = serde_json::from_str(&json).unwrap();
        assert_eq!(value["nodes"][0], "</script>");
        assert_eq!(value["nodes"][2][1]["title"], "<!--");
    }
}
