package java.lang;

import jdk.internal.misc.Unsafe;

/**
 * What rewritten code calls. A hook that only confirms what is known (this thread has the token, and the object is its
 * own) notes the access in memory that the recorder looks at too; everything else is native.
 *
 * <p>Lives in {@code java.lang}, loaded by the boot loader, so that code of every class loader and module finds it. Calls
 * nothing but natives, since any other method may have hooks itself. The memory's layout is that of the agent's
 * {@code src/memory}.
 */
public final class UnsnarlHooks {
    private static final Unsafe MEMORY = Unsafe.getUnsafe();
    private static final long TID = MEMORY.objectFieldOffset(Thread.class, "tid");

    private static final long DESKS = table(0);
    private static final long SITES = table(1);
    private static final long SHADOWS = table(2);
    private static final long RUNNING = table(3);
    private static final long COLLECTED = table(4);
    private static final long TORN = table(5);

    /** Objects whose blocks SHADOWS has at the same places, found by their hash. */
    private static final Object[] KNOWN = new Object[1 << 13];

    private static final int DESKS_MASK = (1 << 10) - 1;

    // A desk.
    private static final int ID = 8;
    private static final int LEFT = 12;
    private static final int WHEN = 16;
    private static final int LEAF = 24;
    private static final int CALL = 28;
    private static final int DEPTH = 32;
    private static final int CONTEXT = 36;
    private static final int GAVE_BACK = 40;
    private static final int FRAMES = 48;
    private static final int ENTERED = 56;

    // A frame.
    private static final int FRAME_BYTES = 24;
    private static final int FRAME_LEAF = 4;
    private static final int FRAME_SITE = 8;
    private static final int FRAME_CALL = 12;
    private static final int FRAME_LOCK = 16;
    private static final int MOST_FRAMES = 1 << 16;

    // A call that was made before: from where, of what, and its context.
    private static final int ENTERED_BYTES = 20;
    private static final int ENTERED_BITS = 15;

    // A block: who owns it, its room, then its cells.
    private static final int ROOM = 4;
    private static final int CELLS = 16;
    private static final int CELL_BYTES = 24;
    private static final int WRITE_LEAF = 4;
    private static final int READ_WHEN = 8;
    private static final int WRITE_WHEN = 16;

    // What is said about a site.
    private static final int WRITES = 1 << 16;
    private static final int NAMES = 1 << 17;

    static {
        begin(KNOWN);
    }

    private UnsnarlHooks() {}

    /** The calling thread's desk, zero if it has none. */
    private static long own() {
        long tid = MEMORY.getLong(Thread.currentThread(), TID);
        long desk = MEMORY.getLong(null, DESKS + ((tid & DESKS_MASK) << 3));
        return desk != 0 && MEMORY.getLong(null, desk) == tid ? desk : 0;
    }

    /** The same, zero also if others may have to run first. */
    private static long atWork() {
        long desk = own();
        return desk != 0
                        && MEMORY.getInt(null, desk + LEFT) > 0
                        && MEMORY.getInt(null, desk + GAVE_BACK) == 0
                        && MEMORY.getInt(null, RUNNING) == MEMORY.getInt(null, desk + ID)
                ? desk
                : 0;
    }

    /** Where accesses to a part of this object are noted, zero if that is not known to be the thread's own. */
    private static long cell(long desk, Object object, int part) {
        if (object == null || part < 0) {
            return 0;
        }
        int place = System.identityHashCode(object) & (KNOWN.length - 1);
        if (KNOWN[place] != object) {
            return 0;
        }
        long block = MEMORY.getLong(null, SHADOWS + ((long) place << 3));
        return block != 0
                        && MEMORY.getInt(null, block) == MEMORY.getInt(null, desk + ID)
                        && part < MEMORY.getInt(null, block + ROOM)
                ? block + CELLS + (long) part * CELL_BYTES
                : 0;
    }

    /** Notes an access. False if there is more to it. */
    private static boolean note(long desk, long cell, int about) {
        int leaf = MEMORY.getInt(null, desk + LEAF) + (about & 0xffff);
        long when = MEMORY.getLong(null, desk + WHEN);
        long read = MEMORY.getLong(null, cell + READ_WHEN);
        if ((about & WRITES) != 0) {
            MEMORY.putInt(null, cell + WRITE_LEAF, leaf);
            MEMORY.putLong(null, cell + WRITE_WHEN, when);
            MEMORY.putLong(null, cell + READ_WHEN, read & ~1L);
        } else {
            // The first read since the last write tells what to call an array.
            if ((about & NAMES) != 0 && (read & 1) == 0) {
                return false;
            }
            MEMORY.putInt(null, cell, leaf);
            MEMORY.putLong(null, cell + READ_WHEN, when | 1);
        }
        MEMORY.putInt(null, desk + LEFT, MEMORY.getInt(null, desk + LEFT) - 1);
        return true;
    }

    private static boolean isNoted(Object object, int site) {
        long desk = atWork();
        if (desk == 0) {
            return false;
        }
        long about = MEMORY.getLong(null, SITES + ((long) site << 3));
        long cell = cell(desk, object, (int) (about >> 32) - 1);
        return cell != 0 && note(desk, cell, (int) about);
    }

    /** An object that a collection would have found dead shall not be kept for longer than until the next one. */
    private static void forget() {
        if (MEMORY.getInt(null, COLLECTED) != 0) {
            MEMORY.putInt(null, COLLECTED, 0);
            for (int place = 0; place < KNOWN.length; place++) {
                KNOWN[place] = null;
            }
        }
    }

    public static void field(Object object, int site) {
        if (!isNoted(object, site)) {
            forget();
            recordField(object, site);
        }
    }

    public static void staticField(Object type, int site) {
        if (!isNoted(type, site)) {
            forget();
            recordStaticField(type, site);
        }
    }

    public static void element(Object array, int index, int site) {
        long desk = atWork();
        if (desk != 0) {
            long about = MEMORY.getLong(null, SITES + ((long) site << 3));
            long cell = about >> 32 == 0 ? 0 : cell(desk, array, index);
            if (cell != 0 && note(desk, cell, (int) about)) {
                return;
            }
        }
        forget();
        recordElement(array, index, site);
    }

    public static void call(int site) {
        long desk = own();
        if (desk != 0 && MEMORY.getInt(null, desk + GAVE_BACK) == 0) {
            MEMORY.putInt(null, desk + CALL, site + 1);
        } else {
            recordCall(site);
        }
    }

    public static void enter(int site) {
        long desk = own();
        if (desk != 0) {
            int depth = MEMORY.getInt(null, desk + DEPTH);
            if (depth > 0 && depth < MOST_FRAMES) {
                int context = MEMORY.getInt(null, desk + CONTEXT);
                int call = MEMORY.getInt(null, desk + CALL);
                int hash = ((context * 31 + call) * 31 + site) * 0x9e3779b1 >>> (32 - ENTERED_BITS);
                long entered = MEMORY.getLong(null, desk + ENTERED) + (long) hash * ENTERED_BYTES;
                if (MEMORY.getInt(null, entered) == context
                        && MEMORY.getInt(null, entered + 4) == call
                        && MEMORY.getInt(null, entered + 8) == site) {
                    context = MEMORY.getInt(null, entered + 12);
                    int leaf = MEMORY.getInt(null, entered + 16);
                    long frame = MEMORY.getLong(null, desk + FRAMES) + (long) depth * FRAME_BYTES;
                    MEMORY.putInt(null, frame, context);
                    MEMORY.putInt(null, frame + FRAME_LEAF, leaf);
                    MEMORY.putInt(null, frame + FRAME_SITE, site);
                    MEMORY.putInt(null, frame + FRAME_CALL, call);
                    MEMORY.putLong(null, frame + FRAME_LOCK, 0);
                    MEMORY.putInt(null, desk + DEPTH, depth + 1);
                    MEMORY.putInt(null, desk + CONTEXT, context);
                    MEMORY.putInt(null, desk + LEAF, leaf);
                    MEMORY.putInt(null, desk + CALL, 0);
                    return;
                }
            }
        }
        recordEnter(site);
    }

    public static void exit(int site) {
        long desk = own();
        if (desk != 0) {
            int depth = MEMORY.getInt(null, desk + DEPTH) - 1;
            long frame = MEMORY.getLong(null, desk + FRAMES) + (long) depth * FRAME_BYTES;
            if (depth > 0
                    && MEMORY.getInt(null, frame + FRAME_SITE) == site
                    && MEMORY.getLong(null, frame + FRAME_LOCK) == 0) {
                MEMORY.putInt(null, desk + DEPTH, depth);
                MEMORY.putInt(null, desk + CONTEXT, MEMORY.getInt(null, frame - FRAME_BYTES));
                MEMORY.putInt(null, desk + LEAF, MEMORY.getInt(null, frame - FRAME_BYTES + FRAME_LEAF));
                MEMORY.putInt(null, desk + CALL, 0);
                return;
            }
        }
        recordExit(site);
    }

    public static void ownCollection(Object object, Object key, int index, int site) {
        if (object instanceof java.util.Collection || object instanceof java.util.Map) {
            collection(object, key, index, site);
        }
    }

    public static void inside(Object object, int site) {
        if (MEMORY.getInt(null, TORN) != 0) {
            recordInside(object, site);
        }
    }

    public static void over(Object object, int site) {
        if (MEMORY.getInt(null, TORN) != 0) {
            recordOver(object, site);
        }
    }

    private static native long table(int number);

    private static native void begin(Object[] known);

    private static native void recordField(Object object, int site);

    private static native void recordStaticField(Object type, int site);

    private static native void recordElement(Object array, int index, int site);

    private static native void recordCall(int site);

    private static native void recordEnter(int site);

    private static native void recordExit(int site);

    private static native void recordInside(Object object, int site);

    private static native void recordOver(Object object, int site);

    public static native void enterLocked(Object object, int site);

    public static native void loop(int site);

    public static native void monitor(Object object, int site);

    public static native void copy(Object from, int fromIndex, Object to, int toIndex, int count, int site);

    public static native void elements(Object array, int site);

    public static native void collection(Object collection, Object key, int index, int site);

    public static native void handle(Object handle, Object target, long place, int result, int site);

    public static native void handleMade(Object handle, Object type, Object name, long offset, int site);

    public static native void born(Object object, int site);

    public static native void pause(int site);

    public static native long sleep(long milliseconds, int site);

    public static native void intercepted(Object object, int number, int site);
}
