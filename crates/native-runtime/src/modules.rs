//! The loaded modules, and where their functions begin and end.

use core::ffi::{CStr, c_char, c_int, c_void};
use core::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Ordering};

use recording::{ModuleHeader, RegionId};

use crate::{context, mapping, rebirth, spin, thread};

/// A function's code.
#[derive(Clone, Copy)]
pub struct Function {
    pub start: u64,
    pub size: u32,
    /// Its module's number in the file, counted from 1; zero if unknown.
    pub module: u32,
}

/// No function is taken to be longer; leaves are not to be wasted on gaps between functions.
const LONGEST_FUNCTION: u64 = 1 << 20;

/// Modules in the file, and known here. The code of further ones stays unknown; Chromium loads some hundreds.
const KNOWN: usize = 2048;
static MODULES: [Known; KNOWN] = [const {
    Known {
        start: AtomicU64::new(0),
        end: AtomicU64::new(0),
        unwind_index: AtomicU64::new(0),
        identity: AtomicU64::new(0),
        image: [const { AtomicU64::new(0) }; 2],
        loaded: AtomicBool::new(false),
    }
}; KNOWN];
static KNOWN_COUNT: AtomicUsize = AtomicUsize::new(0);
static NOTING: AtomicU32 = AtomicU32::new(0);

struct Known {
    start: AtomicU64,
    end: AtomicU64,
    unwind_index: AtomicU64,
    /// Of path and build id: another library may be loaded where one was before.
    identity: AtomicU64,
    /// First address of the whole image, and one past the last.
    image: [AtomicU64; 2],
    /// Unset when any module may have been unloaded, until the loader lists this one again.
    loaded: AtomicBool,
}

impl Known {
    fn code(&self) -> Code {
        Code {
            start: self.start.load(Ordering::Relaxed),
            end: self.end.load(Ordering::Relaxed),
            unwind_index: self.unwind_index.load(Ordering::Relaxed),
        }
    }
}

fn known() -> &'static [Known] {
    &MODULES[..KNOWN_COUNT.load(Ordering::Acquire)]
}

/// The number and code of the module that holds this instruction. The loader, which may be waiting for the target, is asked only
/// about modules not seen before.
unsafe fn code_at(address: u64) -> Option<(u32, Code)> {
    let find = || {
        let mut modules = (1..).zip(known()).filter(|(_, module)| module.loaded.load(Ordering::Acquire));
        modules
            .find(|(_, module)| module.code().holds(address))
            .map(|(number, module)| (number, module.code()))
    };
    find().or_else(|| {
        list();
        find()
    })
}

/// A module is about to be unloaded, or has been: none is trusted to be there until the loader lists it again.
pub fn unloading() {
    for module in known() {
        module.loaded.store(false, Ordering::Release);
    }
}

/// A module may have been unloaded; what was known about its code must not be taken for another's.
pub unsafe fn unloaded() {
    unloading();
    let Some(thread) = thread::enter() else { return };
    list();
    let gone = || known().iter().filter(|module| !module.loaded.load(Ordering::Acquire));
    if gone().next().is_some() {
        GENERATION.fetch_add(1, Ordering::Release);
        context::forget_code(&|address| !is_loaded(address));
    }
    for [start, end] in gone().map(|module| &module.image) {
        // What lies there now, or will, is other memory; only the first time, since it may be anybody's later.
        rebirth::forget(start.load(Ordering::Relaxed) as usize, end.swap(0, Ordering::Relaxed) as usize);
    }
    thread::leave(thread);
}

/// Is this address in a module that the loader has listed?
fn is_loaded(address: u64) -> bool {
    let mut loaded = known().iter().filter(|module| module.loaded.load(Ordering::Acquire));
    loaded.any(|module| module.code().holds(address))
}

static GENERATION: AtomicU32 = AtomicU32::new(0);

/// Counts how often modules were unloaded.
pub fn generation() -> u32 {
    GENERATION.load(Ordering::Acquire)
}

/// Threads that go through the loader's list, for which the loader holds a lock of its own: a fork in the midst of it
/// would leave that one locked in the child for ever, so it waits until this is zero. The threads do not wait for each
/// other: one of them may call from a callback of the target's, with the loader's lock in its hands.
static LISTING: AtomicU32 = AtomicU32::new(0);
/// In [`LISTING`]: a process is being copied.
const FORKING: u32 = 1 << 31;

/// Notes all modules that are loaded now.
pub unsafe fn list() {
    let one_more = |threads: u32| (threads != FORKING).then(|| threads + 1);
    while LISTING.fetch_update(Ordering::Acquire, Ordering::Relaxed, one_more).is_err() {
        crate::kernel::pass();
    }
    libc::dl_iterate_phdr(Some(note_each), core::ptr::null_mut());
    LISTING.fetch_sub(1, Ordering::Release);
}

unsafe extern "C" fn note_each(info: *mut libc::dl_phdr_info, _: usize, _: *mut c_void) -> c_int {
    note(&Image::new(&*info));
    0
}

/// The function that holds this instruction, from the unwind tables; they are there in stripped programs too.
/// Also sees to it that its module is in the file.
pub unsafe fn function_at(address: usize) -> Option<Function> {
    code_at(address as u64)
        .map(|(number, code)| Function { module: number, ..code.function_at(address as u64) })
}

/// Where the unwind tables describe the function that holds this instruction.
pub unsafe fn unwind_entry(address: u64) -> Option<u64> {
    code_at(address)?.1.unwind_entry(address).map(|entry| entry.description)
}

/// Are these two instructions in the same module?
pub unsafe fn in_same_module(address: u64, other: u64) -> bool {
    code_at(address).is_some_and(|(_, code)| code.holds(other))
}

/// Where a module lies in memory.
#[derive(Clone, Copy)]
pub struct Place {
    pub bias: u64,
    /// Its executable part.
    pub start: u64,
    pub end: u64,
}

/// The loaded module with this build id, which is padded with zeros.
pub unsafe fn with_build_id(build_id: &[u8; 32]) -> Option<Place> {
    struct Search<'a> {
        build_id: &'a [u8; 32],
        found: Option<Place>,
    }
    unsafe extern "C" fn visit(info: *mut libc::dl_phdr_info, _: usize, search: *mut c_void) -> c_int {
        let search = &mut *search.cast::<Search>();
        let image = Image::new(&*info);
        let own = image.build_id();
        let same = !own.is_empty()
            && own.len() <= search.build_id.len()
            && search.build_id.starts_with(own)
            && search.build_id[own.len()..].iter().all(|&byte| byte == 0);
        if same {
            search.found =
                Some(Place { bias: image.info.dlpi_addr, start: image.code.start, end: image.code.end });
        }
        same as c_int
    }
    let mut search = Search { build_id, found: None };
    libc::dl_iterate_phdr(Some(visit), (&raw mut search).cast());
    search.found
}

/// A module's code, and where its unwind tables have their index.
#[derive(Clone, Copy)]
struct Code {
    start: u64,
    end: u64,
    unwind_index: u64,
}

impl Code {
    fn holds(&self, address: u64) -> bool {
        (self.start..self.end).contains(&address)
    }

    unsafe fn function_at(&self, address: u64) -> Function {
        let entry = self.unwind_entry(address);
        let (start, end) = entry.map_or((address & !0xfff, self.end), |entry| (entry.start, entry.end));
        Function { start, size: (end - start).min(LONGEST_FUNCTION) as u32, module: 0 }
    }

    /// The code around `address` in the sorted table of `.eh_frame_hdr`.
    unsafe fn unwind_entry(&self, address: u64) -> Option<UnwindEntry> {
        // Version 1; pointer to .eh_frame and entries as signed 4-byte values; the count as an unsigned one:
        // what every linker writes.
        const USUAL: [u8; 4] = [1, 0x1b, 0x03, 0x3b];
        let index = self.unwind_index as *const u8;
        if index.is_null() || index.cast::<[u8; 4]>().read_unaligned() != USUAL {
            return None;
        }
        let count = index.add(8).cast::<u32>().read_unaligned() as usize;
        let field = |entry: usize, number: usize| {
            let distance = index.add(12 + entry * 8 + number * 4).cast::<i32>().read_unaligned();
            self.unwind_index.wrapping_add_signed(distance as i64)
        };
        let begin_of = |entry: usize| field(entry, 0);
        let (mut low, mut high) = (0, count);
        while low < high {
            let middle = (low + high) / 2;
            if begin_of(middle) <= address {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        let found = low.checked_sub(1)?;
        let start = begin_of(found);
        let end = if low < count { begin_of(low) } else { self.end };
        (start <= address && address < end).then(|| UnwindEntry { start, end, description: field(found, 1) })
    }
}

/// An entry of a module's unwind tables.
struct UnwindEntry {
    start: u64,
    end: u64,
    /// Where it says how to unwind.
    description: u64,
}

/// What the loader tells of a module.
struct Image<'a> {
    info: &'a libc::dl_phdr_info,
    code: Code,
    start: u64,
    end: u64,
}

impl<'a> Image<'a> {
    unsafe fn new(info: &'a libc::dl_phdr_info) -> Image<'a> {
        let code = Code { start: u64::MAX, end: 0, unwind_index: 0 };
        let mut image = Image { info, code, start: u64::MAX, end: 0 };
        for header in image.headers() {
            let start = info.dlpi_addr + header.p_vaddr;
            let end = start + header.p_memsz;
            if header.p_type == libc::PT_LOAD {
                image.start = image.start.min(start);
                image.end = image.end.max(end);
                if header.p_flags & libc::PF_X != 0 {
                    image.code.start = image.code.start.min(start);
                    image.code.end = image.code.end.max(end);
                }
            } else if header.p_type == libc::PT_GNU_EH_FRAME {
                image.code.unwind_index = start;
            }
        }
        image
    }

    unsafe fn headers(&self) -> &'a [libc::Elf64_Phdr] {
        core::slice::from_raw_parts(self.info.dlpi_phdr, self.info.dlpi_phnum as usize)
    }

    unsafe fn name(&self) -> &'a [u8] {
        if self.info.dlpi_name.is_null() { &[] } else { CStr::from_ptr(self.info.dlpi_name).to_bytes() }
    }

    /// FNV-1a of what tells it from others.
    unsafe fn identity(&self) -> u64 {
        let bytes = self.name().iter().chain(self.build_id());
        bytes
            .fold(0xcbf2_9ce4_8422_2325, |hash, &byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3))
    }

    /// The GNU build id, if there is one.
    unsafe fn build_id(&self) -> &'a [u8] {
        for header in self.headers().iter().filter(|header| header.p_type == libc::PT_NOTE) {
            let mut at = (self.info.dlpi_addr + header.p_vaddr) as *const u8;
            let end = at.add(header.p_memsz as usize);
            while at.add(12) <= end {
                let [name_bytes, bytes, kind] = at.cast::<[u32; 3]>().read_unaligned();
                let name = at.add(12);
                let content = name.add((name_bytes as usize).next_multiple_of(4));
                if content.add(bytes as usize) > end {
                    break;
                }
                const BUILD_ID: u32 = 3;
                if kind == BUILD_ID && name_bytes == 4 && name.cast::<[u8; 4]>().read_unaligned() == *b"GNU\0"
                {
                    return core::slice::from_raw_parts(content, bytes as usize);
                }
                at = content.add((bytes as usize).next_multiple_of(4));
            }
        }
        &[]
    }
}

unsafe fn note(image: &Image<'_>) {
    let Code { start, end, unwind_index } = image.code;
    if start >= end || !spin::lock(&NOTING) {
        return;
    }
    let identity = image.identity();
    let same = |module: &&Known| {
        let code = module.code();
        (code.start, code.end, code.unwind_index) == (start, end, unwind_index)
            && module.identity.load(Ordering::Relaxed) == identity
    };
    if let Some(module) = known().iter().find(same) {
        module.image[1].store(image.end, Ordering::Relaxed);
        module.loaded.store(true, Ordering::Release);
    } else if let Some(module) = MODULES.get(known().len()) {
        write(image);
        module.start.store(start, Ordering::Relaxed);
        module.end.store(end, Ordering::Relaxed);
        module.unwind_index.store(unwind_index, Ordering::Relaxed);
        module.identity.store(identity, Ordering::Relaxed);
        module.image[0].store(image.start, Ordering::Relaxed);
        module.image[1].store(image.end, Ordering::Relaxed);
        module.loaded.store(true, Ordering::Relaxed);
        KNOWN_COUNT.fetch_add(1, Ordering::Release);
    }
    spin::unlock(&NOTING);
}

unsafe fn write(image: &Image<'_>) {
    let _errno = crate::errno::keep();
    let mut own_path = [0u8; libc::PATH_MAX as usize];
    let name = if image.info.dlpi_name.is_null() { c"" } else { CStr::from_ptr(image.info.dlpi_name) };
    let mut path = name.to_bytes();
    if path.is_empty() {
        // The program itself has no name here.
        let room = own_path.as_mut_ptr().cast();
        let length = libc::readlink(c"/proc/self/exe".as_ptr(), room, own_path.len());
        path = if length > 0 { &own_path[..length as usize] } else { executed_path(room) };
    } else if path[0] != b'/' && !libc::realpath(name.as_ptr(), own_path.as_mut_ptr().cast()).is_null() {
        // Relative to a directory that the reader does not know.
        path = CStr::from_ptr(own_path.as_ptr().cast()).to_bytes();
    }
    let build_id = image.build_id();
    crate::loops::load(build_id, image.info.dlpi_addr);
    let mut header = ModuleHeader {
        bias: image.info.dlpi_addr,
        start: image.code.start,
        end: image.code.end,
        image_start: image.start,
        image_end: image.end,
        path_bytes: path.len() as u32,
        build_id_bytes: build_id.len().min(32) as u32,
        build_id: [0; 32],
    };
    for (to, from) in header.build_id.iter_mut().zip(build_id) {
        *to = *from;
    }
    let bytes = size_of::<ModuleHeader>() + path.len().next_multiple_of(8);
    if let Some(offset) = mapping::allocate(RegionId::Modules, bytes as u64) {
        let region = (*mapping::header()).regions[RegionId::Modules as usize].offset;
        let at = mapping::base().add((region + offset) as usize);
        at.cast::<ModuleHeader>().write_unaligned(header);
        core::ptr::copy_nonoverlapping(path.as_ptr(), at.add(size_of::<ModuleHeader>()), path.len());
    }
}

/// The program as it was started, where there is no /proc to ask.
unsafe fn executed_path(room: *mut c_char) -> &'static [u8] {
    let name = libc::getauxval(libc::AT_EXECFN) as *const c_char;
    if name.is_null() || libc::realpath(name, room).is_null() { &[] } else { CStr::from_ptr(room).to_bytes() }
}

pub fn lock_before_fork() {
    while LISTING.compare_exchange(0, FORKING, Ordering::Acquire, Ordering::Relaxed).is_err() {
        // SAFETY: no arguments.
        unsafe { crate::kernel::pass() };
    }
    spin::lock(&NOTING);
}

pub fn unlock_after_fork() {
    LISTING.store(0, Ordering::Release);
    NOTING.store(0, Ordering::Relaxed);
}
