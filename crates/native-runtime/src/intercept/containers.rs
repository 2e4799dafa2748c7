//! What gcc's C++ library does to the links of lists, maps and sets. Their headers leave this to functions of the
//! library, which is not instrumented.
//!
//! Lists are linked, and trees walked through, here, one access after the other. The balancing of trees is left to the library: its
//! writes become known by comparing the nodes around before and after, and nobody comes in between in a controlled run.

#![allow(non_snake_case)]

use crate::cells::Kind;
use crate::real::{real, with_caller};
use crate::{access, thread};

with_caller! {
    _ZNSt8__detail15_List_node_base7_M_hookEPS0_ => 2, hook;
    _ZNSt8__detail15_List_node_base9_M_unhookEv => 1, unhook;
    _ZNSt8__detail15_List_node_base11_M_transferEPS0_S1_ => 3, transfer;
    _ZSt18_Rb_tree_incrementPSt18_Rb_tree_node_base => 1, next;
    _ZSt18_Rb_tree_incrementPKSt18_Rb_tree_node_base => 1, next;
    _ZSt18_Rb_tree_decrementPSt18_Rb_tree_node_base => 1, previous;
    _ZSt18_Rb_tree_decrementPKSt18_Rb_tree_node_base => 1, previous;
    _ZSt29_Rb_tree_insert_and_rebalancebPSt18_Rb_tree_node_baseS0_RS_ => 4, insert;
    _ZSt28_Rb_tree_rebalance_for_erasePSt18_Rb_tree_node_baseRS_ => 2, erase;
}

const WORD: usize = size_of::<usize>();

unsafe fn read(word: *const usize, pc: usize) -> usize {
    if !thread::is_inside() {
        access::range(word as usize, WORD, Kind::Read, 0, pc);
    }
    word.read_volatile()
}

unsafe fn write(word: *mut usize, value: usize, pc: usize) {
    if !thread::is_inside() {
        access::range(word as usize, WORD, Kind::Write, 0, pc);
    }
    word.write_volatile(value);
}

/// A list's node. So is the list itself, before the first and behind the last.
#[repr(C)]
struct Link {
    next: usize,
    previous: usize,
}

type ListNode = *mut Link;

/// Puts a node before another one.
unsafe extern "C" fn hook(node: ListNode, position: ListNode, pc: usize) {
    write(&raw mut (*node).next, position as usize, pc);
    let before = read(&raw const (*position).previous, pc);
    write(&raw mut (*node).previous, before, pc);
    write(&raw mut (*(before as ListNode)).next, node as usize, pc);
    write(&raw mut (*position).previous, node as usize, pc);
}

unsafe extern "C" fn unhook(node: ListNode, pc: usize) {
    let after = read(&raw const (*node).next, pc);
    let before = read(&raw const (*node).previous, pc);
    write(&raw mut (*(before as ListNode)).next, after, pc);
    write(&raw mut (*(after as ListNode)).previous, before, pc);
}

/// Moves the nodes from `first` to the one before `end` to the place before another one.
unsafe extern "C" fn transfer(position: ListNode, first: ListNode, end: ListNode, pc: usize) {
    if position == end {
        return;
    }
    let last = read(&raw const (*end).previous, pc);
    let before_first = read(&raw const (*first).previous, pc);
    let before_position = read(&raw const (*position).previous, pc);
    write(&raw mut (*(last as ListNode)).next, position as usize, pc);
    write(&raw mut (*(before_first as ListNode)).next, end as usize, pc);
    write(&raw mut (*(before_position as ListNode)).next, first as usize, pc);
    write(&raw mut (*position).previous, last, pc);
    write(&raw mut (*end).previous, before_first, pc);
    write(&raw mut (*first).previous, before_position, pc);
}

/// A tree's node. The tree itself is one: above the root, which is its parent, and beside the first and the last.
#[repr(C)]
#[derive(Clone, Copy)]
struct Branch {
    is_black: u32,
    parent: TreeNode,
    left: TreeNode,
    right: TreeNode,
}

type TreeNode = *mut Branch;

const IS_BLACK: usize = core::mem::offset_of!(Branch, is_black);
const PARENT: usize = core::mem::offset_of!(Branch, parent);
const LEFT: usize = core::mem::offset_of!(Branch, left);
const RIGHT: usize = core::mem::offset_of!(Branch, right);

/// A node's neighbour at this offset.
unsafe fn at(node: TreeNode, offset: usize, pc: usize) -> TreeNode {
    read(node.byte_add(offset).cast(), pc) as TreeNode
}

unsafe extern "C" fn next(node: TreeNode, pc: usize) -> TreeNode {
    neighbour(node, LEFT, RIGHT, pc)
}

unsafe extern "C" fn previous(node: TreeNode, pc: usize) -> TreeNode {
    // The tree itself is red and its root's parent, and the last node is at its right.
    if (*node).is_black == 0 && at(at(node, PARENT, pc), PARENT, pc) == node {
        return at(node, RIGHT, pc);
    }
    neighbour(node, RIGHT, LEFT, pc)
}

/// The nearest node on the side `far`.
unsafe fn neighbour(mut node: TreeNode, near: usize, far: usize, pc: usize) -> TreeNode {
    let below = at(node, far, pc);
    if !below.is_null() {
        node = below;
        loop {
            let nearer = at(node, near, pc);
            if nearer.is_null() {
                return node;
            }
            node = nearer;
        }
    }
    let mut above = at(node, PARENT, pc);
    while node == at(above, far, pc) {
        node = above;
        above = at(above, PARENT, pc);
    }
    // A root without anything on the far side: it and the tree are each other's parent.
    if far == RIGHT && at(node, RIGHT, pc) == above { node } else { above }
}

unsafe extern "C" fn insert(is_left: bool, node: TreeNode, parent: TreeNode, tree: TreeNode, pc: usize) {
    let link = parent.byte_add(if is_left { LEFT } else { RIGHT });
    if !thread::is_inside() {
        access::range(link as usize, WORD, Kind::Write, 0, pc);
    }
    let around = Around::of(parent, tree, BESIDE_INSERTED);
    real!(_ZSt29_Rb_tree_insert_and_rebalancebPSt18_Rb_tree_node_baseS0_RS_(
        bool, TreeNode, TreeNode, TreeNode
    ))(is_left, node, parent, tree);
    if !thread::is_inside() {
        access::further(node as usize, size_of::<Branch>(), Kind::Write, pc);
        around.note_changes(link as usize, pc);
    }
}

unsafe extern "C" fn erase(node: TreeNode, tree: TreeNode, pc: usize) -> TreeNode {
    if !thread::is_inside() {
        access::range(node as usize, size_of::<Branch>(), Kind::Read, 0, pc);
    }
    // The next one takes its place, if it has nodes on both sides.
    let mut lowest = node;
    if !(*node).left.is_null() && !(*node).right.is_null() {
        lowest = (*node).right;
        while !(*lowest).left.is_null() {
            lowest = (*lowest).left;
        }
    }
    let around = Around::of(lowest, tree, BESIDE_ERASED);
    let unlinked = real!(_ZSt28_Rb_tree_rebalance_for_erasePSt18_Rb_tree_node_baseRS_(TreeNode, TreeNode) -> TreeNode)(
        node, tree,
    );
    if !thread::is_inside() {
        around.note_changes(0, pc);
    }
    unlinked
}

/// The nodes that balancing may change: those from one up to the tree itself, and those beside them.
struct Around {
    nodes: [(TreeNode, Branch); MOST_NODES],
    count: usize,
}

/// Enough for the way to the root in trees of many thousands; more does not fit on a small stack.
const MOST_NODES: usize = 96;
/// How far down beside the way to the root nodes change: an uncle's colour; a brother's children, and their children's parents.
const BESIDE_INSERTED: u32 = 1;
const BESIDE_ERASED: u32 = 3;

impl Around {
    unsafe fn of(from: TreeNode, tree: TreeNode, beside: u32) -> Around {
        const NOTHING: (TreeNode, Branch) = {
            let null = core::ptr::null_mut();
            (null, Branch { is_black: 0, parent: null, left: null, right: null })
        };
        let mut around = Around { nodes: [NOTHING; MOST_NODES], count: 0 };
        around.add(tree, 1);
        let (mut below, mut node) = (core::ptr::null_mut(), from);
        while node != tree && !node.is_null() && around.count < MOST_NODES {
            let Branch { parent, left, right, .. } = *node;
            around.add(node, 1);
            for side in [left, right].into_iter().filter(|&side| side != below) {
                around.add(side, beside);
            }
            (below, node) = (node, parent);
        }
        around
    }

    /// Adds so many generations.
    unsafe fn add(&mut self, node: TreeNode, generations: u32) {
        if node.is_null() || generations == 0 || self.count == MOST_NODES {
            return;
        }
        self.nodes[self.count] = (node, *node);
        self.count += 1;
        self.add((*node).left, generations - 1);
        self.add((*node).right, generations - 1);
    }

    /// Notes writes to all links that are not as they were, but for one that is noted already.
    unsafe fn note_changes(&self, noted: usize, pc: usize) {
        for &(node, before) in &self.nodes[..self.count] {
            let now = *node;
            let changes = [
                (IS_BLACK, size_of::<u32>(), before.is_black != now.is_black),
                (PARENT, WORD, before.parent != now.parent),
                (LEFT, WORD, before.left != now.left),
                (RIGHT, WORD, before.right != now.right),
            ];
            for (offset, bytes, has_changed) in changes {
                let address = node as usize + offset;
                if has_changed && address != noted {
                    access::further(address, bytes, Kind::Write, pc);
                }
            }
        }
    }
}
