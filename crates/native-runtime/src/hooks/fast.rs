//! The hooks that most programs spend most of their time in, instruction by instruction.
//!
//! What they do is what [`access::aligned`] does, which serves all other hooks and processors: if the bytes are
//! this thread's own, its leaf and stamp go into their line. In Rust that costs a third more: its compiler can
//! neither take the return address nor use the thread pointer as a segment.

use core::mem::offset_of;

use crate::cell::{BYTES, READS_AT, SPLIT, WRITES_AT};
use crate::cells::Kind;
use crate::groups::{self, Group};
use crate::passages::{self, Passage};
use crate::shadow::{self, Line};
use crate::split::ByteCell;
use crate::tls::{Frame, Tls};
use crate::{access, sampling};

/// Finds the line of the word at `rdi` (in `rdx`) and the leaf of the caller (in `eax`), or goes to label 2.
/// `rsi` becomes the caller's address, `rcx` the offset of the thread's block.
macro_rules! find_line_and_leaf {
    () => {
        "mov rsi, [rsp]
        mov rcx, [rip + unsnarl_tls@GOTTPOFF]
        mov rdx, fs:[rcx + {root}]
        mov rax, rdi
        shr rax, {range_bits}
        test rdx, rdx
        jz 2f
        and eax, {root_mask}
        mov rdx, [rdx + rax * 8]
        mov eax, esi
        sub eax, fs:[rcx + {function}]
        lea r8d, [rdi * 4]
        cmp eax, fs:[rcx + {size}]
        jae 2f
        and r8d, {line_mask}
        test rdx, rdx
        jz 2f
        add eax, fs:[rcx + {first_leaf}]
        add rdx, r8"
    };
}

/// Where to go with what is not just the thread's own: nowhere, if it is to be left out ([`sampling`]).
macro_rules! leave {
    () => {
        "3:
        mov ecx, eax
        jmp {not_just_own}
        2:
        cmp dword ptr [rip + {sampling}], {quiet}
        jne 5f
        dec qword ptr fs:[rcx + {unseen}]
        jle 5f
        ret
        5:
        jmp {any}"
    };
}

macro_rules! hook {
    ($name:ident, $size:literal, $write:literal, $leaves:ident, $stamps:ident, $body:literal $($constants:tt)*) => {
        #[unsafe(naked)]
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name() {
            core::arch::naked_asm!(
                find_line_and_leaf!(),
                $body,
                leave!(),
                root = const offset_of!(Tls, root),
                owner = const offset_of!(Tls, owner_pair),
                stamp = const offset_of!(Tls, stamp_pair),
                function = const offset_of!(Tls, frame) + offset_of!(Frame, function),
                size = const offset_of!(Tls, frame) + offset_of!(Frame, size),
                first_leaf = const offset_of!(Tls, frame) + offset_of!(Frame, first_leaf),
                range_bits = const shadow::RANGE_BITS,
                root_mask = const shadow::ROOT_MASK,
                line_mask = const (shadow::RANGE_MASK & !7) * shadow::SCALE,
                leaves = const offset_of!(Line, $leaves),
                stamps = const offset_of!(Line, $stamps),
                sampling = sym sampling::PHASE,
                quiet = const sampling::QUIET,
                unseen = const offset_of!(Tls, unseen),
                not_just_own = sym access::not_just_own::<$size, $write>,
                any = sym any::<$size, $write>
                $($constants)*
            )
        }
    };
}

macro_rules! hook8 {
    ($name:ident, $write:literal, $leaves:ident, $stamps:ident) => {
        hook!(
            $name,
            8,
            $write,
            $leaves,
            $stamps,
            "test dil, 7
            jnz 2f
            mov r8, fs:[rcx + {owner}]
            cmp r8, [rdx]
            jne 3f
            mov r9d, eax
            shl r9, 32
            or r9, rax
            mov r8d, fs:[rcx + {stamp}]
            mov [rdx + {leaves}], r9
            mov [rdx + {stamps}], r8d
            ret"
        );
    };
}

macro_rules! hook4 {
    ($name:ident, $write:literal, $leaves:ident, $stamps:ident) => {
        hook!(
            $name,
            4,
            $write,
            $leaves,
            $stamps,
            "mov r8d, edi
            test dil, 3
            jnz 2f
            and r8d, 4
            mov r9d, fs:[rcx + {owner}]
            cmp r9d, [rdx + r8]
            jne 3f
            mov [rdx + r8 + {leaves}], eax
            shr r8d, 1
            mov eax, fs:[rcx + {stamp}]
            mov [rdx + r8 + {stamps}], ax
            ret"
        );
    };
}

/// At label 7 what [`passages::goes_on`] does.
macro_rules! hook1 {
    ($name:ident, $write:literal, $leaves:ident, $stamps:ident) => {
        hook!(
            $name,
            1,
            $write,
            $leaves,
            $stamps,
            "mov r8d, edi
            and r8d, 4
            mov r9d, [rdx + r8]
            test r9d, {split}
            jnz 6f
            xor r9d, fs:[rcx + {owner}]
            jz 4f
            mov r10d, edi
            and r10d, 3
            add r10d, {first_bit}
            bt r9d, r10d
            jnc 7f
            and r9d, {not_masks}
            cmp r9d, {bytes}
            jne 3f
            4:
            cmp eax, [rdx + r8 + {leaves}]
            jne 3f
            shr r8d, 1
            mov eax, fs:[rcx + {stamp}]
            mov [rdx + r8 + {stamps}], ax
            ret
            6:
            and r9d, {group_number}
            jnz 20f
            mov r9, rdx
            and r9, {block_mask}
            mov r10d, edx
            and r10d, {offset_mask}
            mov r9, [r9 + {cells}]
            lea r9, [r9 + r10 * {cells_scale}]
            mov r10d, edi
            and r10d, 7
            shl r10d, {cell_bits}
            22:
            mov r8d, fs:[rcx + {owner}]
            cmp r8d, [r9 + r10]
            jne 9f
            mov [r9 + r10 + {cell_leaf}], eax
            mov eax, fs:[rcx + {stamp}]
            mov [r9 + r10 + {cell_stamp}], ax
            ret
            20:
            mov r10d, edi
            shl r9d, {group_bits}
            and r10d, 3
            add r9, [rip + {groups}]
            shl r10d, {cell_bits}
            jmp 22b
            7:
            mov r9d, [rdx + r8]
            sub r9d, {first_passage}
            cmp r9d, {passage_count}
            jae 3f
            cmp dword ptr fs:[rcx + {busy}], 0
            jne 3f
            mov dword ptr fs:[rcx + {busy}], 1
            lea r11d, [r9 + {first_passage}]
            cmp r11d, [rdx + r8]
            jne 8f
            shl r9d, {passage_bits}
            lea r10, [rip + {passages}]
            add r9, r10
            mov r10d, edi
            and r10d, 7
            cmp eax, [r9 + {passage_leaf}]
            jne 8f
            mov r11d, fs:[rcx + {owner}]
            cmp r11d, [r9 + {passage_thread}]
            jne 8f
            cmp r10d, [r9 + {passage_next}]
            jne 8f
            cmp r10d, 7
            je 8f
            mov eax, fs:[rcx + {stamp}]
            mov [r9 + r10 * 2 + {passage_stamps}], ax
            inc r10d
            mov [r9 + {passage_next}], r10d
            mov dword ptr fs:[rcx + {busy}], 0
            ret
            9:
            mov ecx, eax
            lea r8, [r9 + r10]
            jmp {byte_of_others}
            8:
            mov dword ptr fs:[rcx + {busy}], 0
            jmp 3f",
            byte_of_others = sym access::byte_of_others::<$write>,
            busy = const offset_of!(Tls, busy),
            passages = sym passages::PASSAGES,
            passage_bits = const size_of::<Passage>().ilog2(),
            first_passage = const passages::FIRST,
            passage_count = const passages::COUNT,
            passage_thread = const offset_of!(Passage, thread),
            passage_next = const offset_of!(Passage, next),
            passage_leaf = const offset_of!(Passage, leaf),
            passage_stamps = const offset_of!(Passage, stamps),
            split = const SPLIT,
            block_mask = const shadow::BLOCK_MASK,
            offset_mask = const !shadow::BLOCK_MASK,
            group_number = const groups::NUMBER,
            group_bits = const size_of::<Group>().ilog2(),
            groups = sym groups::GROUPS,
            cells = const shadow::CELLS_AT,
            cells_scale = const shadow::CELLS_SCALE,
            cell_bits = const size_of::<ByteCell>().ilog2(),
            cell_leaf = const offset_of!(ByteCell, $leaves),
            cell_stamp = const offset_of!(ByteCell, $stamps),
            first_bit = const if $write { WRITES_AT } else { READS_AT },
            not_masks = const !(15 << WRITES_AT | 15 << READS_AT),
            bytes = const BYTES
        );
    };
}

macro_rules! hook2 {
    ($name:ident, $write:literal, $leaves:ident, $stamps:ident) => {
        hook!(
            $name,
            2,
            $write,
            $leaves,
            $stamps,
            "mov r8d, edi
            test dil, 1
            jnz 2f
            and r8d, 4
            mov r9d, [rdx + r8]
            xor r9d, fs:[rcx + {owner}]
            jz 4f
            mov r10d, {both}
            test dil, 2
            mov r11d, {other_both}
            cmovnz r10d, r11d
            mov r11d, r10d
            or r11d, {not_masks}
            and r9d, r11d
            xor r9d, r10d
            cmp r9d, {bytes}
            jne 3f
            4:
            cmp eax, [rdx + r8 + {leaves}]
            jne 3f
            shr r8d, 1
            mov eax, fs:[rcx + {stamp}]
            mov [rdx + r8 + {stamps}], ax
            ret",
            both = const 3u32 << if $write { WRITES_AT } else { READS_AT },
            other_both = const 12u32 << if $write { WRITES_AT } else { READS_AT },
            not_masks = const !(15 << WRITES_AT | 15 << READS_AT),
            bytes = const BYTES
        );
    };
}

hook1!(__tsan_read1, false, read, read_stamp);
hook1!(__tsan_write1, true, write, write_stamp);
hook2!(__tsan_read2, false, read, read_stamp);
hook2!(__tsan_write2, true, write, write_stamp);
hook8!(__tsan_read8, false, read, read_stamp);
hook8!(__tsan_write8, true, write, write_stamp);
hook4!(__tsan_read4, false, read, read_stamp);
hook4!(__tsan_write4, true, write, write_stamp);

unsafe extern "C" fn any<const SIZE: usize, const WRITE: bool>(address: usize, pc: usize) {
    access::any(address, SIZE, if WRITE { Kind::Write } else { Kind::Read }, pc);
}
