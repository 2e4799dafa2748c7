import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.lang.reflect.Field;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.atomic.AtomicIntegerFieldUpdater;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReferenceFieldUpdater;
import java.util.concurrent.locks.StampedLock;
import sun.misc.Unsafe;

/** Two threads that reach what they share by everything but plain instructions. */
public class Handles {
    static class Node {
        int plain;
        long wide;
        volatile int updated;
        volatile String text = "";
        int byOffset;
        int guarded;
        static int shared;
    }

    private static final VarHandle PLAIN;
    private static final VarHandle WIDE;
    private static final VarHandle SHARED;
    private static final VarHandle BYTES =
            MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.nativeOrder());
    private static final VarHandle ELEMENTS = MethodHandles.arrayElementVarHandle(int[].class);
    private static final AtomicIntegerFieldUpdater<Node> UPDATED =
            AtomicIntegerFieldUpdater.newUpdater(Node.class, "updated");
    private static final AtomicReferenceFieldUpdater<Node, String> TEXT =
            AtomicReferenceFieldUpdater.newUpdater(Node.class, String.class, "text");
    private static final Unsafe UNSAFE;
    private static final long BY_OFFSET;

    static {
        try {
            MethodHandles.Lookup lookup = MethodHandles.lookup();
            PLAIN = lookup.findVarHandle(Node.class, "plain", int.class);
            WIDE = lookup.findVarHandle(Node.class, "wide", long.class);
            SHARED = lookup.findStaticVarHandle(Node.class, "shared", int.class);
            Field unsafe = Unsafe.class.getDeclaredField("theUnsafe");
            unsafe.setAccessible(true);
            UNSAFE = (Unsafe) unsafe.get(null);
            BY_OFFSET = UNSAFE.objectFieldOffset(Node.class.getDeclaredField("byOffset"));
        } catch (ReflectiveOperationException impossible) {
            throw new IllegalStateException(impossible);
        }
    }

    private static final Node node = new Node();
    private static final int[] viewed = new int[4];
    private static final byte[] raw = new byte[32];
    private static final AtomicIntegerArray counts = new AtomicIntegerArray(2);
    private static final int[] source = {1, 2, 3, 4};
    private static final int[] copied = new int[4];
    private static final AtomicInteger attempts = new AtomicInteger();
    private static final AtomicLong raised = new AtomicLong();
    private static final StampedLock stamped = new StampedLock();

    private static void use() {
        PLAIN.set(node, (int) PLAIN.get(node) + 1); // plain
        WIDE.getAndAdd(node, 5L); // wide
        int seen;
        do {
            seen = (int) SHARED.getAcquire(); // seen
        } while (!SHARED.compareAndSet(seen, seen + 1)); // shared
        ELEMENTS.setRelease(viewed, 2, 7); // viewed
        BYTES.set(raw, 20, 1); // bytes
        UPDATED.incrementAndGet(node); // updated
        TEXT.getAndUpdate(node, text -> text + "x"); // text
        UNSAFE.putInt(node, BY_OFFSET, UNSAFE.getIntVolatile(node, BY_OFFSET) + 1); // offset
        UNSAFE.getAndAddInt(viewed, Unsafe.ARRAY_INT_BASE_OFFSET + 3L * Unsafe.ARRAY_INT_INDEX_SCALE, 1); // array
        System.arraycopy(source, 0, copied, 1, 3); // copied
        source[0] += copied.clone()[0] + Arrays.copyOf(copied, 2)[1]; // cloned
        attempts.updateAndGet(n -> n + 1); // attempts
        attempts.compareAndExchange(-1, 0); // exchanged
        counts.accumulateAndGet(1, 1, Integer::sum); // counted
        raised.getAndIncrement(); // raised
        long stamp = stamped.tryWriteLock(); // tried
        if (stamp == 0) {
            stamp = stamped.writeLock();
        }
        node.guarded++; // guarded
        stamped.unlock(stamp);
        stamp = stamped.readLock();
        long write = stamped.tryConvertToWriteLock(stamp);
        if (write != 0) {
            stamp = write;
            node.guarded++; // converted
        }
        stamped.unlock(stamp); // unlocked
    }

    public static void main(String[] arguments) throws Exception {
        Thread other = new Thread(Handles::use);
        other.start();
        use();
        other.join();
        System.out.println(node.wide + " " + Node.shared + " " + node.updated + " " + node.text + " " + attempts);
    }
}
