//! Elements of a page or a picture. Text enters a tree only through [`text`] and [`Element::attribute`], which show
//! what would act instead of appear, and leaves it only escaped: names from the target cannot become markup.

use crate::visible::visible;

/// A part of a page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Node {
    Text(String),
    Element(Element),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Element {
    pub tag: &'static str,
    pub attributes: Vec<(&'static str, String)>,
    pub children: Vec<Node>,
}

/// Elements of HTML that have no content and no end tag.
const VOID: [&str; 2] = ["input", "meta"];

pub(crate) fn element(tag: &'static str) -> Element {
    Element { tag, attributes: Vec::new(), children: Vec::new() }
}

/// An element with a class, the most frequent sort.
pub(crate) fn classed(tag: &'static str, class: &str) -> Element {
    element(tag).attribute("class", class)
}

/// Text to be seen as it is.
pub(crate) fn text(text: &str) -> Node {
    Node::Text(visible(text).into_owned())
}

/// A sentence in which names stand between backticks.
pub(crate) fn prose(sentence: &str) -> Vec<Node> {
    let part = |(index, part): (usize, &str)| match (part.is_empty(), index % 2) {
        (true, _) => None,
        (false, 0) => Some(text(part)),
        (false, _) => Some(element("code").text(part).into()),
    };
    sentence.split('`').enumerate().filter_map(part).collect()
}

impl Element {
    pub(crate) fn attribute(mut self, name: &'static str, value: impl ToString) -> Self {
        self.attributes.push((name, visible(&value.to_string()).into_owned()));
        self
    }

    pub(crate) fn text(mut self, content: &str) -> Self {
        self.children.push(text(content));
        self
    }

    pub(crate) fn child(mut self, child: impl Into<Node>) -> Self {
        self.children.push(child.into());
        self
    }

    pub(crate) fn children(mut self, children: impl IntoIterator<Item = impl Into<Node>>) -> Self {
        self.children.extend(children.into_iter().map(Into::into));
        self
    }

    /// Appends the element as HTML. SVG is written in the same way, which XML understands too.
    pub(crate) fn write(&self, out: &mut String) {
        out.push('<');
        out.push_str(self.tag);
        for (name, value) in &self.attributes {
            out.push(' ');
            out.push_str(name);
            out.push_str("=\"");
            escape(value, out);
            out.push('"');
        }
        out.push('>');
        if VOID.contains(&self.tag) {
            return;
        }
        for child in &self.children {
            match child {
                Node::Text(text) => escape(text, out),
                Node::Element(element) => element.write(out),
            }
        }
        out.push_str("</");
        out.push_str(self.tag);
        out.push('>');
    }
}

impl From<Element> for Node {
    fn from(element: Element) -> Self {
        Node::Element(element)
    }
}

fn escape(text: &str, out: &mut String) {
    for character in text.chars() {
        match character {
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            _ => out.push(character),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(element: Element) -> String {
        let mut out = String::new();
        element.write(&mut out);
        out
    }

    #[test]
    fn text_and_attributes_are_escaped() {
        let evil = "\"'><script>&\u{202e}";
        let safe = r"&quot;&#39;&gt;&lt;script&gt;&amp;\u{202e}";
        let shown = written(element("p").attribute("title", evil).text(evil));
        assert_eq!(shown, format!("<p title=\"{safe}\">{safe}</p>"));
    }

    #[test]
    fn names_in_prose_become_code() {
        let shown = |sentence| written(element("p").children(prose(sentence)));
        assert_eq!(shown("f() reads `q<T>` twice"), "<p>f() reads <code>q&lt;T&gt;</code> twice</p>");
        assert_eq!(shown("odd ` one"), "<p>odd <code> one</code></p>");
        assert_eq!(shown("`x`"), "<p><code>x</code></p>");
    }

    #[test]
    fn void_elements_have_no_end() {
        assert_eq!(written(element("input").attribute("type", "search")), r#"<input type="search">"#);
    }
}
