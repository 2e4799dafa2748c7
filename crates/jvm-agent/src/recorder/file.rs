//! The recording file, mapped shared: what is stored there survives any end of the process. Storage is reserved
//! before it is touched, so that a full disk is an error here and never a fault in the virtual machine.

use std::ffi::CString;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use recording::{
    HEADER_BYTES, Header, LineRecord, MAGIC, NameHeader, NameKind, Pod, REGION_COUNT, Region, RegionId,
    RunPlan, VERSION, fault,
};

/// Room per region, in the order of [`RegionId`]. The file is sparse.
const CAPACITIES: [u64; REGION_COUNT] =
    [64 << 20, 64 << 20, 256 << 20, 512 << 20, 1 << 30, 4 << 30, 256 << 20, 1 << 20, 1 << 20];
/// Storage is reserved in steps that grow with what is used, between these.
const SMALLEST_STEP: u64 = 16 << 10;
const LARGEST_STEP: u64 = 1 << 20;
const PAGE: u64 = 4096;

/// The mapped file. Whoever holds it is the only one who writes to it.
pub struct RecordingFile {
    base: *mut u8,
    descriptor: i32,
    /// Nothing more can be stored.
    is_full: bool,
}

// SAFETY: the mapping belongs to this value alone, and stays until the process ends.
unsafe impl Send for RecordingFile {}

impl RecordingFile {
    /// Creates a file in `folder` that no other process of the run uses.
    pub fn create(folder: &Path, plan: &RunPlan) -> io::Result<RecordingFile> {
        let pid = std::process::id();
        for attempt in 0..1000 {
            let path = folder.join(format!("{pid}-jvm{attempt}.raw"));
            match RecordingFile::map(&path, plan) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                result => return result,
            }
        }
        Err(io::ErrorKind::AlreadyExists.into())
    }

    fn map(path: &Path, plan: &RunPlan) -> io::Result<RecordingFile> {
        let path = CString::new(path.as_os_str().as_bytes())?;
        let mut offset = HEADER_BYTES as u64;
        let regions = CAPACITIES.map(|capacity| {
            let region = Region { offset, capacity, used: 0, backed: 0 };
            offset += capacity;
            region
        });
        let flags = libc::O_RDWR | libc::O_CREAT | libc::O_EXCL | libc::O_CLOEXEC;
        // SAFETY: plain system calls on a path that ends in zero and on the descriptor that they give; the header's
        // page is backed before it is written.
        unsafe {
            let descriptor = libc::open(path.as_ptr(), flags, 0o600);
            if descriptor < 0 {
                return Err(io::Error::last_os_error());
            }
            let protection = libc::PROT_READ | libc::PROT_WRITE;
            let shared = libc::MAP_SHARED | libc::MAP_NORESERVE;
            let sized = libc::ftruncate(descriptor, offset as i64) == 0
                && libc::fallocate(descriptor, 0, 0, HEADER_BYTES as i64) == 0;
            let base = match sized {
                true => libc::mmap(std::ptr::null_mut(), offset as usize, protection, shared, descriptor, 0),
                false => libc::MAP_FAILED,
            };
            if base == libc::MAP_FAILED {
                let error = io::Error::last_os_error();
                libc::close(descriptor);
                libc::unlink(path.as_ptr());
                return Err(error);
            }
            let mut file = RecordingFile { base: base.cast(), descriptor, is_full: false };
            let header = file.header();
            header.version = VERSION;
            header.pid = std::process::id();
            header.parent_pid = libc::getppid() as u32;
            header.seed = plan.seed;
            let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
            header.started = now.unwrap_or_default().as_nanos() as u64;
            header.regions = regions;
            header.magic = MAGIC;
            Ok(file)
        }
    }

    /// The start of the file.
    pub fn header(&mut self) -> &mut Header {
        // SAFETY: the header is plain data at the start of the mapping, whose page is backed.
        unsafe { &mut *self.base.cast() }
    }

    /// Can nothing more be stored?
    pub fn is_full(&self) -> bool {
        self.is_full
    }

    /// The next position in the total order.
    pub fn next_tick(&mut self) -> u64 {
        self.header().tick += 1;
        self.header().tick
    }

    /// Room in a region, as an offset in the file. On failure the file says why, and takes no more.
    pub fn allocate(&mut self, id: RegionId, bytes: u64) -> Option<u64> {
        let descriptor = self.descriptor;
        let region = &mut self.header().regions[id as usize];
        // Index 0 of record regions stays unused.
        let has_index = !matches!(id, RegionId::Chunks | RegionId::Modules | RegionId::Names);
        let start = if region.used == 0 && has_index { bytes } else { region.used };
        let end = start + bytes;
        let mut trouble = (end > region.capacity).then_some((fault::REGION_FULL, id as u32));
        if trouble.is_none() && end > region.backed {
            let step = region.backed.clamp(SMALLEST_STEP, LARGEST_STEP).max(end - region.backed);
            let step = step.next_multiple_of(PAGE).min(region.capacity - region.backed);
            let offset = region.offset + region.backed;
            // SAFETY: a system call on our own descriptor.
            if unsafe { libc::fallocate(descriptor, 0, offset as i64, step as i64) } == 0 {
                region.backed += step;
            } else {
                let error = io::Error::last_os_error().raw_os_error().unwrap_or(0);
                trouble = Some((fault::STORAGE, error as u32));
            }
        }
        if let Some((code, detail)) = trouble {
            self.fail(code, detail);
            return None;
        }
        region.used = end;
        Some(region.offset + start)
    }

    /// Notes why recording ends here.
    pub fn fail(&mut self, code: u32, detail: u32) {
        self.is_full = true;
        let header = self.header();
        if header.fault == fault::NONE {
            header.fault = code;
            header.fault_detail = detail;
        }
    }

    /// A new zeroed record's index.
    pub fn new_record<T: Pod>(&mut self, id: RegionId) -> Option<u32> {
        let offset = self.allocate(id, size_of::<T>() as u64)?;
        let start = self.header().regions[id as usize].offset;
        Some(((offset - start) / size_of::<T>() as u64) as u32)
    }

    /// The record with this index, which came from [`RecordingFile::new_record`].
    pub fn record<T: Pod>(&mut self, id: RegionId, index: u32) -> &mut T {
        let region = self.header().regions[id as usize];
        let offset = region.offset + u64::from(index) * size_of::<T>() as u64;
        debug_assert!(offset + size_of::<T>() as u64 <= region.offset + region.used);
        // SAFETY: within the used part of a region of such records, which is backed and aligned like its records.
        unsafe { &mut *self.base.add(offset as usize).cast() }
    }

    /// Writes a value at an offset that [`RecordingFile::allocate`] gave.
    pub fn write<T: Pod>(&mut self, offset: u64, value: T) {
        // SAFETY: within allocated room; unaligned, so that nobody has to think about it.
        unsafe { self.base.add(offset as usize).cast::<T>().write_unaligned(value) }
    }

    /// Writes bytes at an offset that [`RecordingFile::allocate`] gave.
    pub fn write_bytes(&mut self, offset: u64, bytes: &[u8]) {
        // SAFETY: within allocated room.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), self.base.add(offset as usize), bytes.len()) }
    }

    /// Stores a name.
    pub fn add_name(
        &mut self,
        kind: NameKind,
        key: u64,
        size: u32,
        (name, file): (&str, &str),
        lines: &[LineRecord],
    ) {
        let header = NameHeader {
            kind: kind as u32,
            size,
            key,
            lines: lines.len() as u32,
            name_bytes: name.len() as u32,
            file_bytes: file.len() as u32,
            reserved: 0,
        };
        let length =
            size_of::<NameHeader>() + size_of_val(lines) + (name.len() + file.len()).next_multiple_of(8);
        let Some(mut at) = self.allocate(RegionId::Names, length as u64) else { return };
        self.write(at, header);
        at += size_of::<NameHeader>() as u64;
        for &line in lines {
            self.write(at, line);
            at += size_of::<LineRecord>() as u64;
        }
        self.write_bytes(at, name.as_bytes());
        self.write_bytes(at + name.len() as u64, file.as_bytes());
    }
}
