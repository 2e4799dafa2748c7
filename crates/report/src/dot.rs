//! A finding as a graph for Graphviz: its accesses grouped by thread, joined by arrows in the order of time. Where a
//! variable changes hands, the arrow is bold and bears the variable's name.

use crate::model::{Access, Finding};
use crate::picture::handovers;
use crate::visible::visible;
use crate::wording::{self, Places};

/// Writes a finding as a DOT file.
pub fn finding(finding: &Finding) -> String {
    let mut graph = String::from("digraph finding {\n");
    graph.push_str(&format!(
        "  label={};\n  labelloc=t;\n",
        quoted(&wording::headline(finding).replace('`', ""))
    ));
    // Ranks across the groups, so that time goes downwards through all of them.
    graph.push_str("  newrank=true;\n  fontname=monospace;\n");
    graph.push_str("  node [shape=box, style=\"rounded,filled\", fillcolor=\"#f6f8fa\", color=\"#8c959f\", ");
    graph.push_str("fontname=monospace];\n  edge [color=\"#8c959f\", fontname=monospace];\n");
    for thread in wording::threads(finding) {
        let title = quoted(&wording::thread_title(finding, thread));
        graph.push_str(&format!(
            "  subgraph cluster_{thread} {{\n    label={title};\n    color=\"#8c959f\";\n"
        ));
        for (index, access) in
            finding.accesses.iter().enumerate().filter(|(_, access)| access.thread == thread)
        {
            graph.push_str(&format!("    a{} [label={}];\n", index + 1, label(finding, index, access)));
        }
        graph.push_str("  }\n");
    }
    let handovers = handovers(finding);
    for step in (1..finding.accesses.len()).map(|to| [to - 1, to]).filter(|step| !handovers.contains(step)) {
        graph.push_str(&edge(step, "style=dashed"));
    }
    for handover in handovers {
        let variable = quoted(&finding.accesses[handover[1]].variable);
        graph.push_str(&edge(
            handover,
            &format!("penwidth=2, color=\"#c2410c\", fontcolor=\"#c2410c\", label={variable}"),
        ));
    }
    graph.push_str("}\n");
    graph
}

fn edge([from, to]: [usize; 2], style: &str) -> String {
    format!("  a{} -> a{} [{style}];\n", from + 1, to + 1)
}

/// The lines of a node's text, set flush left.
fn label(finding: &Finding, index: usize, access: &Access) -> String {
    let effect = format!("{}  {}", wording::effect_in(finding, index), access.variable);
    let source = wording::source_line(access);
    let place = format!("{}. {}", index + 1, Places::of(finding).label(access));
    let note = wording::since_last_time(finding, index).unwrap_or_default();
    let lines = [place.as_str(), &source, effect.trim(), &note];
    let lines: Vec<String> =
        lines.iter().filter(|line| !line.is_empty()).map(|line| escaped(line) + "\\l").collect();
    format!("\"{}\"", lines.concat())
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", escaped(text))
}

/// The text as it may stand between quotes. A backslash would begin an escape there, and `&` an entity of HTML.
fn escaped(text: &str) -> String {
    visible(text).replace('\\', "\\\\").replace('"', "\\\"").replace('&', "&amp;")
}
