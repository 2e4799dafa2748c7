//! A function's basic blocks, as the machine runs them.

use std::collections::{BTreeMap, BTreeSet};

use iced_x86::{Decoder, DecoderOptions, FlowControl, Instruction};

use super::announcements::Announcements;

/// Code without jumps into or out of it.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct BasicBlock {
    /// Where its announcements return to, in order; usually one. The optimizer may have joined several blocks.
    pub announced: Vec<u64>,
    /// Whether it calls anything else: a hook, or a function that may.
    pub has_calls: bool,
    /// The blocks that may follow, by their index.
    pub next: Vec<usize>,
}

/// The blocks of a function whose first byte has this address, by ascending address. Jumps to elsewhere are calls
/// that do not come back, and so are jumps through tables, which `unsnarl cc --loops` has the compiler avoid.
pub(super) fn of_function(code: &[u8], start: u64, announcements: &Announcements) -> Vec<BasicBlock> {
    let end = start + code.len() as u64;
    let instructions: Vec<Instruction> =
        Decoder::with_ip(64, code, start, DecoderOptions::NONE).into_iter().collect();
    let mut beginnings = BTreeSet::from([start]);
    for instruction in &instructions {
        if let Some(target) = jump_target(instruction).filter(|target| (start..end).contains(target)) {
            beginnings.insert(target);
        }
        if ends_block(instruction, announcements) && instruction.next_ip() < end {
            beginnings.insert(instruction.next_ip());
        }
    }
    let index: BTreeMap<u64, usize> =
        beginnings.iter().zip(0..).map(|(&address, nth)| (address, nth)).collect();
    let mut blocks: Vec<BasicBlock> = index.iter().map(|_| BasicBlock::default()).collect();
    let mut current = 0;
    for instruction in &instructions {
        current = index.get(&instruction.ip()).copied().unwrap_or(current);
        let block = &mut blocks[current];
        if let Some(target) = call_target(instruction) {
            if announcements.is_announcement(target) {
                block.announced.push(instruction.next_ip());
            } else {
                block.has_calls = true;
            }
        } else if instruction.flow_control() == FlowControl::IndirectCall {
            block.has_calls = true;
        }
        let taken = jump_target(instruction).and_then(|target| index.get(&target));
        let falls_through = falls_through(instruction, announcements);
        let behind = index.get(&instruction.next_ip()).filter(|_| falls_through);
        block.next.extend(taken.into_iter().chain(behind));
    }
    cut_off_padding(&mut blocks);
    blocks
}

/// What nothing leads to, and is not announced either, fills a gap between blocks: it leads nowhere. (Announced is
/// where exceptions land.)
fn cut_off_padding(blocks: &mut [BasicBlock]) {
    let mut waiting: Vec<usize> =
        (0..blocks.len()).filter(|&block| block == 0 || !blocks[block].announced.is_empty()).collect();
    let mut is_reached = vec![false; blocks.len()];
    while let Some(block) = waiting.pop() {
        if !std::mem::replace(&mut is_reached[block], true) {
            waiting.extend(&blocks[block].next);
        }
    }
    for (block, _) in blocks.iter_mut().zip(is_reached).filter(|(_, is_reached)| !is_reached) {
        block.next.clear();
    }
}

/// Whether a function comes back to its caller, or may leave that to another one.
pub(super) fn can_return(code: &[u8], start: u64) -> bool {
    let within = start..start + code.len() as u64;
    let instructions = Decoder::with_ip(64, code, start, DecoderOptions::NONE);
    instructions.into_iter().any(|instruction| match instruction.flow_control() {
        FlowControl::Return | FlowControl::IndirectBranch => true,
        _ => jump_target(&instruction).is_some_and(|target| !within.contains(&target)),
    })
}

fn jump_target(instruction: &Instruction) -> Option<u64> {
    match instruction.flow_control() {
        FlowControl::ConditionalBranch | FlowControl::UnconditionalBranch => {
            Some(instruction.near_branch_target())
        }
        _ => None,
    }
}

fn call_target(instruction: &Instruction) -> Option<u64> {
    (instruction.flow_control() == FlowControl::Call).then(|| instruction.near_branch_target())
}

fn falls_through(instruction: &Instruction, announcements: &Announcements) -> bool {
    match instruction.flow_control() {
        FlowControl::UnconditionalBranch
        | FlowControl::IndirectBranch
        | FlowControl::Return
        | FlowControl::Exception => false,
        FlowControl::Call => !announcements.never_returns(instruction.near_branch_target()),
        _ => true,
    }
}

fn ends_block(instruction: &Instruction, announcements: &Announcements) -> bool {
    jump_target(instruction).is_some() || !falls_through(instruction, announcements)
}
