//! The loaded modules, and where their functions begin and end.

use core::ffi::{CStr, c_int, c_void};
use core::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use recording::{ModuleHeader, RegionId};

use crate::{mapping, spin};

/// A function's code.
#[derive(Clone, Copy)]
pub struct Function {
    pub start: u64,
    pub size: u32,
}

/// No function is taken to be longer; leaves are not to be wasted on gaps between functions.
const LONGEST_FUNCTION: u64 = 1 << 20;

/// Modules already in the file, by bias and end. More than this many are recorded again and again, harmlessly.
const KNOWN: usize = 256;
static NOTED: [AtomicU64; KNOWN] = [const { AtomicU64::new(0) }; KNOWN];
static NOTED_COUNT: AtomicU32 = AtomicU32::new(0);
static NOTING: AtomicU32 = AtomicU32::new(0);

/// Held while the loader goes through its list, for which it holds a lock of its own: a fork in the midst of it
/// would leave that one locked in the child for ever.
static LISTING: AtomicU32 = AtomicU32::new(0);

/// Notes all modules that are loaded now.
pub unsafe fn start() {
    libc::dl_iterate_phdr(Some(note_each), core::ptr::null_mut());
}

unsafe extern "C" fn note_each(info: *mut libc::dl_phdr_info, _: usize, _: *mut c_void) -> c_int {
    note(&Image::new(&*info));
    0
}

/// The function that holds this instruction, from the unwind tables; they are there in stripped programs too.
/// Also sees to it that its module is in the file.
pub unsafe fn function_at(address: usize) -> Option<Function> {
    struct Search {
        address: u64,
        found: Option<Function>,
    }
    unsafe extern "C" fn visit(info: *mut libc::dl_phdr_info, _: usize, search: *mut c_void) -> c_int {
        let search = &mut *search.cast::<Search>();
        let image = Image::new(&*info);
        if search.address < image.start || search.address >= image.end {
            return 0;
        }
        note(&image);
        search.found = Some(image.function_at(search.address));
        1
    }
    let mut search = Search { address: address as u64, found: None };
    if spin::lock(&LISTING) {
        libc::dl_iterate_phdr(Some(visit), (&raw mut search).cast());
        spin::unlock(&LISTING);
    }
    search.found
}

/// Are these two instructions in the same module?
pub unsafe fn in_same_module(address: u64, other: u64) -> bool {
    struct Search {
        addresses: [u64; 2],
        found: bool,
    }
    unsafe extern "C" fn visit(info: *mut libc::dl_phdr_info, _: usize, search: *mut c_void) -> c_int {
        let search = &mut *search.cast::<Search>();
        let image = Image::new(&*info);
        search.found = search.addresses.iter().all(|address| (image.start..image.end).contains(address));
        search.found as c_int
    }
    let mut search = Search { addresses: [address, other], found: false };
    if spin::lock(&LISTING) {
        libc::dl_iterate_phdr(Some(visit), (&raw mut search).cast());
        spin::unlock(&LISTING);
    }
    search.found
}

/// What the loader tells of a module.
struct Image<'a> {
    info: &'a libc::dl_phdr_info,
    start: u64,
    end: u64,
    image_start: u64,
    image_end: u64,
    unwind_index: u64,
}

impl<'a> Image<'a> {
    unsafe fn new(info: &'a libc::dl_phdr_info) -> Image<'a> {
        let mut image =
            Image { info, start: u64::MAX, end: 0, image_start: u64::MAX, image_end: 0, unwind_index: 0 };
        for header in image.headers() {
            let start = info.dlpi_addr + header.p_vaddr;
            let end = start + header.p_memsz;
            if header.p_type == libc::PT_LOAD {
                image.image_start = image.image_start.min(start);
                image.image_end = image.image_end.max(end);
                if header.p_flags & libc::PF_X != 0 {
                    image.start = image.start.min(start);
                    image.end = image.end.max(end);
                }
            } else if header.p_type == libc::PT_GNU_EH_FRAME {
                image.unwind_index = start;
            }
        }
        image
    }

    unsafe fn headers(&self) -> &'a [libc::Elf64_Phdr] {
        core::slice::from_raw_parts(self.info.dlpi_phdr, self.info.dlpi_phnum as usize)
    }

    unsafe fn function_at(&self, address: u64) -> Function {
        let (start, end) = self.unwind_entry(address).unwrap_or((address & !0xfff, self.end));
        Function { start, size: (end - start).min(LONGEST_FUNCTION) as u32 }
    }

    /// Bounds of the code around `address` in the sorted table of `.eh_frame_hdr`.
    unsafe fn unwind_entry(&self, address: u64) -> Option<(u64, u64)> {
        // Version 1; pointer to .eh_frame and entries as signed 4-byte values; the count as an unsigned one:
        // what every linker writes.
        const USUAL: [u8; 4] = [1, 0x1b, 0x03, 0x3b];
        let index = self.unwind_index as *const u8;
        if index.is_null() || index.cast::<[u8; 4]>().read_unaligned() != USUAL {
            return None;
        }
        let count = index.add(8).cast::<u32>().read_unaligned() as usize;
        let begin_of = |entry: usize| {
            let distance = index.add(12 + entry * 8).cast::<i32>().read_unaligned();
            self.unwind_index.wrapping_add_signed(distance as i64)
        };
        let (mut low, mut high) = (0, count);
        while low < high {
            let middle = (low + high) / 2;
            if begin_of(middle) <= address {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        let start = begin_of(low.checked_sub(1)?);
        let end = if low < count { begin_of(low) } else { self.end };
        (start <= address && address < end).then_some((start, end))
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
    if image.start >= image.end {
        return;
    }
    let identity = image.start ^ image.end.rotate_left(32);
    let known = || {
        let count = NOTED_COUNT.load(Ordering::Acquire) as usize;
        NOTED[..count.min(KNOWN)].iter().any(|noted| noted.load(Ordering::Relaxed) == identity)
    };
    if known() || !spin::lock(&NOTING) {
        return;
    }
    if !known() {
        write(image);
        let count = NOTED_COUNT.load(Ordering::Relaxed) as usize;
        if count < KNOWN {
            NOTED[count].store(identity, Ordering::Relaxed);
            NOTED_COUNT.store(count as u32 + 1, Ordering::Release);
        }
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
        let length = libc::readlink(c"/proc/self/exe".as_ptr(), own_path.as_mut_ptr().cast(), own_path.len());
        path = &own_path[..length.max(0) as usize];
    } else if path[0] != b'/' && !libc::realpath(name.as_ptr(), own_path.as_mut_ptr().cast()).is_null() {
        // Relative to a directory that the reader does not know.
        path = CStr::from_ptr(own_path.as_ptr().cast()).to_bytes();
    }
    let build_id = image.build_id();
    let mut header = ModuleHeader {
        bias: image.info.dlpi_addr,
        start: image.start,
        end: image.end,
        image_start: image.image_start,
        image_end: image.image_end,
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

pub fn lock_before_fork() {
    spin::lock(&LISTING);
    spin::lock(&NOTING);
}

pub fn unlock_after_fork() {
    LISTING.store(0, Ordering::Relaxed);
    NOTING.store(0, Ordering::Relaxed);
}
