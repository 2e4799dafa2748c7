//! The recording file, mapped shared: what is stored there survives any end of the process.
//!
//! The file is sparse, with generous room for each region. Storage is reserved step by step before it is
//! touched, so that a full disk is an error code here and never a fault in the target.

use core::ptr::null_mut;
use core::sync::atomic::{AtomicI32, AtomicPtr, AtomicU32, AtomicU64, Ordering};

use recording::{HEADER_BYTES, Header, MAGIC, Pod, REGION_COUNT, Region, RegionId, RunPlan, VERSION};

use crate::{errno, kernel, sandbox};

/// Room per region at full scale, in the order of [`RegionId`].
/// Names come from debug info later, so they need no room here.
const CAPACITIES: [u64; REGION_COUNT] =
    [256 << 20, 4 << 20, 128 << 20, 512 << 20, 1 << 30, 4 << 30, 0, 4 << 20, 32 << 20];
/// Storage is reserved in steps that start small, so that a short test pays little, and grow to this.
const LARGEST_STEP: u64 = 1 << 20;
const SMALLEST_STEP: u64 = 16 << 10;
const PAGE: u64 = 4096;
/// What is backed for a target that forbids to ask for more later, in the order of [`RegionId`].
const BACKED_AHEAD: [u64; REGION_COUNT] =
    [1 << 20, 64 << 10, 4 << 20, 8 << 20, 8 << 20, 16 << 20, 0, 64 << 10, 512 << 10];

static BASE: AtomicPtr<u8> = AtomicPtr::new(null_mut());
/// Where each region begins. It stays there, also in a forked child.
static REGIONS: [AtomicPtr<u8>; REGION_COUNT] = [const { AtomicPtr::new(null_mut()) }; REGION_COUNT];
static FILE: AtomicI32 = AtomicI32::new(-1);
static FILE_ID: [AtomicU64; 2] = [AtomicU64::new(0), AtomicU64::new(0)];
static LENGTH: AtomicU64 = AtomicU64::new(0);
static GROWING: AtomicU32 = AtomicU32::new(0);

/// Private zeroed memory, null if there is none.
pub unsafe fn reserve(bytes: usize) -> *mut u8 {
    let protection = libc::PROT_READ | libc::PROT_WRITE;
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
    let memory = libc::mmap(null_mut(), bytes, protection, flags, -1, 0);
    if memory == libc::MAP_FAILED { null_mut() } else { memory.cast() }
}

/// Not by the C library's function, which the recorder stands in front of.
pub unsafe fn unmap(memory: *mut u8, bytes: usize) -> i32 {
    let result = kernel::call(libc::SYS_munmap, [memory as usize, bytes, 0, 0]);
    if result < 0 {
        errno::set(-result as i32);
        return -1;
    }
    0
}

/// Address space that the recorder may take: half of a limited one, so that the target can go on.
fn address_space() -> u64 {
    // SAFETY: fills the structure.
    unsafe {
        let mut limit: libc::rlimit = core::mem::zeroed();
        let known = libc::getrlimit(libc::RLIMIT_AS, &mut limit) == 0;
        if known && limit.rlim_cur != libc::RLIM_INFINITY { limit.rlim_cur / 2 } else { u64::MAX }
    }
}

#[inline]
pub fn base() -> *mut u8 {
    BASE.load(Ordering::Relaxed)
}

#[inline]
pub unsafe fn header() -> *mut Header {
    base().cast()
}

/// Creates and maps the file at `path` (ending in a zero byte). Errors are `errno` values.
///
/// Scales the regions down until the address space, of which `elsewhere` bytes are needed for other things,
/// and the file-size limit allow them.
pub unsafe fn create(path: *const libc::c_char, plan: &RunPlan, elsewhere: u64) -> Result<(), i32> {
    for shift in [0, 3, 6] {
        let regions = regions(shift);
        let last = &regions[regions.len() - 1];
        let length = last.offset + last.capacity;
        if length + elsewhere > address_space() {
            continue;
        }
        match map_new_file(path, length, null_mut()) {
            Ok(base) => {
                LENGTH.store(length, Ordering::Relaxed);
                let header = base.cast::<Header>();
                (*header).version = VERSION;
                (*header).pid = libc::getpid() as u32;
                (*header).parent_pid = libc::getppid() as u32;
                (*header).seed = plan.seed;
                (*header).started = now();
                (*header).regions = regions;
                (*header).magic = MAGIC;
                for (start, region) in REGIONS.iter().zip(&regions) {
                    start.store(base.add(region.offset as usize), Ordering::Relaxed);
                }
                BASE.store(base, Ordering::Release);
                return Ok(());
            }
            Err(error) if shift < 6 && matches!(error, libc::ENOMEM | libc::EFBIG | libc::EINVAL) => {}
            Err(error) => return Err(error),
        }
    }
    Err(libc::ENOMEM)
}

fn regions(shift: u32) -> [Region; REGION_COUNT] {
    let mut offset = HEADER_BYTES as u64;
    CAPACITIES.map(|full| {
        let region = Region { offset, capacity: full >> shift, used: 0, backed: 0 };
        offset += region.capacity;
        region
    })
}

/// Makes a new file of this length and maps it, at `at` if that is not null. The header's page is backed.
unsafe fn map_new_file(path: *const libc::c_char, length: u64, at: *mut u8) -> Result<*mut u8, i32> {
    let low = libc::open(path, libc::O_RDWR | libc::O_CREAT | libc::O_EXCL | libc::O_CLOEXEC, 0o644);
    if low < 0 {
        return Err(errno::get());
    }
    let mut limit: libc::rlimit = core::mem::zeroed();
    libc::getrlimit(libc::RLIMIT_NOFILE, &mut limit);
    // Out of the way of programs that count on low numbers.
    let out_of_the_way = limit.rlim_cur.saturating_sub(20).min(700) as i32;
    let high = libc::fcntl(low, libc::F_DUPFD_CLOEXEC, out_of_the_way);
    let file = if high >= 0 {
        libc::close(low);
        high
    } else {
        low
    };
    let give_up = |error| {
        libc::close(file);
        libc::unlink(path);
        Err(error)
    };
    // Growing past the file-size limit would raise a signal in the target.
    if libc::getrlimit(libc::RLIMIT_FSIZE, &mut limit) == 0 && limit.rlim_cur < length {
        return give_up(libc::EFBIG);
    }
    if libc::ftruncate(file, length as i64) != 0 {
        return give_up(errno::get());
    }
    if back(file, 0, HEADER_BYTES as u64) != 0 {
        return give_up(errno::get());
    }
    let fixed = if at.is_null() { 0 } else { libc::MAP_FIXED };
    let protection = libc::PROT_READ | libc::PROT_WRITE;
    let flags = libc::MAP_SHARED | libc::MAP_NORESERVE | fixed;
    let memory = libc::mmap(at.cast(), length as usize, protection, flags, file, 0);
    if memory == libc::MAP_FAILED {
        return give_up(errno::get());
    }
    let mut status: libc::stat = core::mem::zeroed();
    libc::fstat(file, &mut status);
    FILE_ID[0].store(status.st_dev, Ordering::Relaxed);
    FILE_ID[1].store(status.st_ino, Ordering::Relaxed);
    FILE.store(file, Ordering::Relaxed);
    Ok(memory.cast())
}

/// In a forked child: leaves the parent's file, which the parent goes on changing, for one of its own at the same
/// addresses. Threads, modules and contexts are taken along; locations, their turns and events are the parent's.
pub unsafe fn continue_in_own_file(path: *const libc::c_char) -> Result<(), i32> {
    let old = base();
    let length = LENGTH.load(Ordering::Relaxed);
    let mut header = header().read();
    let parent_file = FILE.load(Ordering::Relaxed);
    // A second view of the old file keeps its content at hand while the first is replaced.
    let view = libc::mremap(old.cast(), 0, length as usize, libc::MREMAP_MAYMOVE);
    if view == libc::MAP_FAILED {
        return Err(errno::get());
    }
    if ours(parent_file) {
        libc::close(parent_file);
    }
    let mut result = map_new_file(path, length, old).map(|_| ());
    if result.is_ok() {
        header.pid = libc::getpid() as u32;
        header.parent_pid = libc::getppid() as u32;
        (header.dropped, header.thinned, header.forgotten) = (0, 0, 0);
        for id in RegionId::ALL {
            let region = &mut header.regions[id as usize];
            let taken_along = matches!(id, RegionId::Threads | RegionId::Modules | RegionId::Contexts);
            region.used = if taken_along { USED_AT_FORK[id as usize].load(Ordering::Relaxed) } else { 0 };
            region.backed = 0;
            if region.used == 0 {
                continue;
            }
            let bytes = region.used.next_multiple_of(PAGE).min(region.capacity);
            if back(FILE.load(Ordering::Relaxed), region.offset, bytes) != 0 {
                result = Err(errno::get());
                break;
            }
            region.backed = bytes;
            let offset = region.offset as usize;
            let from = view.cast::<u8>().add(offset);
            core::ptr::copy_nonoverlapping(from, old.add(offset), region.used as usize);
        }
        old.cast::<Header>().write(header);
    }
    unmap(view.cast(), length as usize);
    result
}

/// Does this descriptor still mean our file? The target may have closed it and reused its number.
unsafe fn ours(file: i32) -> bool {
    let mut status: libc::stat = core::mem::zeroed();
    libc::fstat(file, &mut status) == 0
        && status.st_dev == FILE_ID[0].load(Ordering::Relaxed)
        && status.st_ino == FILE_ID[1].load(Ordering::Relaxed)
}

unsafe fn back(file: i32, offset: u64, bytes: u64) -> i32 {
    if libc::fallocate(file, 0, offset as i64, bytes as i64) == 0 {
        return 0;
    }
    if !matches!(errno::get(), libc::EOPNOTSUPP | libc::ENOSYS) {
        return -1;
    }
    // File systems without it: writing zeros has the same effect, since nobody has touched the range yet.
    let zeros = [0u8; 4096];
    let mut done = 0;
    while done < bytes {
        let step = (bytes - done).min(zeros.len() as u64);
        if libc::pwrite(file, zeros.as_ptr().cast(), step as usize, (offset + done) as i64) != step as isize {
            return -1;
        }
        done += step;
    }
    0
}

/// Where the target closed our descriptor along with its own: the mapping is still there, and touching its pages
/// this way gives an error code where there is no storage (since Linux 5.14).
unsafe fn back_by_mapping(offset: u64, bytes: u64) -> i32 {
    const POPULATE_WRITE: i32 = 23;
    libc::madvise(base().add(offset as usize).cast(), bytes as usize, POPULATE_WRITE)
}

/// Room for `bytes` more in a region, as an offset within it. On failure the recorder is switched off.
pub unsafe fn allocate(id: RegionId, bytes: u64) -> Option<u64> {
    let region = &raw mut (*header()).regions[id as usize];
    let used = AtomicU64::from_ptr(&raw mut (*region).used);
    let backed = AtomicU64::from_ptr(&raw mut (*region).backed);
    let mut start = used.load(Ordering::Relaxed);
    loop {
        // Index 0 of record regions stays unused; chunks and modules have no index.
        let skip = if start == 0 && !matches!(id, RegionId::Chunks | RegionId::Modules) { bytes } else { 0 };
        let end = start + skip + bytes;
        if end > (*region).capacity {
            crate::log::fault(recording::fault::REGION_FULL, id as u32);
            return None;
        }
        if end > backed.load(Ordering::Acquire) && !grow(region, backed, end) {
            return None;
        }
        // `used` moves only once its storage is there, so that a reader never looks at a hole.
        match used.compare_exchange_weak(start, end, Ordering::AcqRel, Ordering::Relaxed) {
            Ok(_) => return Some(start + skip),
            Err(now) => start = now,
        }
    }
}

/// Asks for storage now, as far as there is any. Nobody can ask for more afterwards.
pub unsafe fn back_ahead() {
    for (id, bytes) in RegionId::ALL.into_iter().zip(BACKED_AHEAD) {
        let region = &raw mut (*header()).regions[id as usize];
        let backed = AtomicU64::from_ptr(&raw mut (*region).backed);
        if !crate::spin::lock(&GROWING) {
            return;
        }
        let have = backed.load(Ordering::Acquire);
        let step = bytes.min((*region).capacity.saturating_sub(have));
        if step > 0 && back_region(region, have, step) == 0 {
            backed.store(have + step, Ordering::Release);
        }
        crate::spin::unlock(&GROWING);
    }
}

/// With `GROWING` held.
unsafe fn back_region(region: *mut Region, have: u64, step: u64) -> i32 {
    let file = FILE.load(Ordering::Relaxed);
    let offset = (*region).offset + have;
    if ours(file) { back(file, offset, step) } else { back_by_mapping(offset, step) }
}

#[cold]
unsafe fn grow(region: *mut Region, backed: &AtomicU64, needed: u64) -> bool {
    let _errno = errno::keep();
    if !crate::spin::lock(&GROWING) {
        return false;
    }
    let have = backed.load(Ordering::Acquire);
    let mut enough = have >= needed;
    if !enough {
        let step = have.clamp(SMALLEST_STEP, LARGEST_STEP).max(needed - have).next_multiple_of(PAGE);
        let step = step.min((*region).capacity - have);
        if sandbox::is_closed() {
            crate::log::fault(recording::fault::STORAGE, libc::EPERM as u32);
        } else if back_region(region, have, step) == 0 {
            backed.store(have + step, Ordering::Release);
            enough = true;
        } else {
            crate::log::fault(recording::fault::STORAGE, errno::get() as u32);
        }
    }
    crate::spin::unlock(&GROWING);
    enough
}

/// The record with this index. Indices come from [`allocate_record`], so they are within the region.
#[inline]
pub unsafe fn record<T: Pod>(id: RegionId, index: u32) -> *mut T {
    REGIONS[id as usize].load(Ordering::Relaxed).cast::<T>().add(index as usize)
}

/// A new zeroed record's index.
pub unsafe fn allocate_record<T: Pod>(id: RegionId) -> Option<u32> {
    allocate_records::<T>(id, 1)
}

/// Several of them, one behind the other: the index of the first.
pub unsafe fn allocate_records<T: Pod>(id: RegionId, count: u32) -> Option<u32> {
    let offset = allocate(id, size_of::<T>() as u64 * u64::from(count))?;
    Some((offset / size_of::<T>() as u64) as u32)
}

/// Number of records in a region, the unused first one included.
pub unsafe fn record_count<T: Pod>(id: RegionId) -> u32 {
    let used = AtomicU64::from_ptr(&raw mut (*header()).regions[id as usize].used);
    (used.load(Ordering::Acquire) / size_of::<T>() as u64) as u32
}

fn now() -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: fills the structure.
    unsafe { libc::clock_gettime(libc::CLOCK_REALTIME, &mut time) };
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// How much of each region was in use when the process was copied: what the parent adds later is not the child's.
static USED_AT_FORK: [AtomicU64; REGION_COUNT] = [const { AtomicU64::new(0) }; REGION_COUNT];

/// With all other locks held.
pub unsafe fn lock_before_fork() {
    crate::spin::lock(&GROWING);
    for (used, region) in USED_AT_FORK.iter().zip(&mut (*header()).regions) {
        let now = AtomicU64::from_ptr(&raw mut region.used).load(Ordering::Relaxed);
        used.store(now.min(region.capacity), Ordering::Relaxed);
    }
}

pub fn unlock_after_fork() {
    GROWING.store(0, Ordering::Relaxed);
}
