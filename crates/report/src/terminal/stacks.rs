//! The call stacks of a finding, one per access, each folded to where it differs from those before.

use super::page::{Line, PLACE, PLAIN, Page, QUIET, STRONG};
use crate::model::{Access, Finding, Frame};
use crate::wording::{self, plural};

/// Of a deep stack, the innermost frames say what happened and the outermost which thread it was.
const INNERMOST: usize = 12;
const OUTERMOST: usize = 4;

const INDENT: usize = 8;

/// Writes the stacks of all accesses that have one.
pub(super) fn write(page: &mut Page, finding: &Finding) {
    if finding.accesses.iter().all(|access| access.stack.is_empty()) {
        return;
    }
    page.blank();
    page.line(Line::new(STRONG, "   call stacks"));
    for (index, access) in finding.accesses.iter().enumerate() {
        page.paragraph(Line::new(STRONG, &format!("   {:>3}  ", index + 1)), PLAIN, &title(access));
        write_stack(page, &finding.accesses[..index], &access.stack);
    }
}

fn title(access: &Access) -> String {
    let mut title = format!("thread {}: {}", access.thread, wording::effect(access));
    if !access.variable.is_empty() {
        title.push_str(&format!(" ({})", access.variable));
    }
    if !access.locks.is_empty() {
        title.push_str(&format!(", holding {}", access.locks.join(", ")));
    }
    title
}

fn write_stack(page: &mut Page, earlier: &[Access], stack: &[Frame]) {
    let (common, same_as) = most_in_common(earlier, stack);
    let own = &stack[..stack.len() - common];
    if own.len() <= INNERMOST + OUTERMOST + 1 {
        write_frames(page, own);
    } else {
        write_frames(page, &own[..INNERMOST]);
        write_note(
            page,
            &format!("… {} not shown …", plural((own.len() - INNERMOST - OUTERMOST) as u64, "frame")),
        );
        write_frames(page, &own[own.len() - OUTERMOST..]);
    }
    if let Some(frame) = stack[own.len()..].first() {
        write_note(page, &format!("… from {} on as for access {same_as}", frame_name(frame)));
    }
}

/// How many outermost frames the stack shares with an earlier access, and the number of that access. Less than two
/// are not worth a reference.
fn most_in_common(earlier: &[Access], stack: &[Frame]) -> (usize, usize) {
    let mut best = (0, 0);
    for (index, access) in earlier.iter().enumerate() {
        let pairs = stack.iter().rev().zip(access.stack.iter().rev());
        let common = pairs.take_while(|(own, other)| own == other).count();
        if common >= 2 && common > best.0 {
            best = (common, index + 1);
        }
    }
    best
}

fn write_frames(page: &mut Page, frames: &[Frame]) {
    let name_width =
        frames.iter().map(|frame| Line::new(PLAIN, &frame_name(frame)).width()).max().unwrap_or(0);
    for frame in frames {
        let name = Line::spaces(INDENT).with(PLAIN, &frame_name(frame));
        let place = Line::new(PLACE, &frame_place(frame));
        // Half the width keeps the places of a stack with one endless name in view.
        let column = (INDENT + name_width).min(page.width() / 2);
        page.line(name.cut(column).padded(column + 2).then(place));
    }
}

fn write_note(page: &mut Page, note: &str) {
    page.line(Line::spaces(INDENT).with(QUIET, note));
}

fn frame_name(frame: &Frame) -> String {
    frame
        .function
        .as_deref()
        .map(wording::function)
        .or_else(|| wording::raw_place(&frame.module, &frame.address))
        .unwrap_or_else(|| "unknown function".to_owned())
}

fn frame_place(frame: &Frame) -> String {
    match (&frame.file, frame.line) {
        (Some(file), Some(line)) => format!("{file}:{line}"),
        (Some(file), None) => file.clone(),
        (None, _) => String::new(),
    }
}
