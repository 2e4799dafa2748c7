//! The call stacks of a finding, one per access.

use super::page::{Line, PLACE, PLAIN, Page, QUIET, STRONG};
use crate::model::{Finding, Frame};
use crate::stacks::{Folded, fold};
use crate::wording::{access_title, frame_name, frame_place, plural};

const INDENT: usize = 8;

/// Writes the stacks of all accesses that have one.
pub(super) fn write(page: &mut Page, finding: &Finding) {
    if finding.accesses.iter().all(|access| access.stack.is_empty()) {
        return;
    }
    page.blank();
    page.line(Line::new(STRONG, "   call stacks"));
    for (index, access) in finding.accesses.iter().enumerate() {
        page.paragraph(Line::new(STRONG, &format!("   {:>3}  ", index + 1)), PLAIN, &access_title(access));
        write_stack(page, &fold(&finding.accesses[..index], &access.stack));
    }
}

fn write_stack(page: &mut Page, stack: &Folded<'_>) {
    write_frames(page, stack.innermost);
    if !stack.omitted.is_empty() {
        write_note(page, &format!("… {} not shown …", plural(stack.omitted.len() as u64, "frame")));
        write_frames(page, stack.outermost);
    }
    if let Some(frame) = stack.shared.first() {
        write_note(page, &format!("… from {} on as for access {}", frame_name(frame), stack.shared_with));
    }
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
