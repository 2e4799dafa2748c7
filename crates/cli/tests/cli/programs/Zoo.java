import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import java.util.function.Function;

/** Every kind of instruction and construct that the rewriter treats, with results that do not depend on the order. */
public class Zoo {
    enum Colour { RED, GREEN, BLUE }

    interface Shape {
        double SCALE = 2.5;

        double area();

        default double scaled() {
            return area() * SCALE;
        }
    }

    record Square(double side) implements Shape {
        Square {
            if (side < 0) {
                throw new IllegalArgumentException("negative");
            }
        }

        public double area() {
            return side * side;
        }
    }

    static class Base {
        protected long wide;
        double precise;
        byte small;
        boolean flag;
        char letter = 'a';
        short brief;
        float single;
        volatile int ordered;
        static long shared;
        static double ratio = 0.5;

        Base(long wide) {
            this.wide = wide;
        }

        synchronized long add(long more) {
            wide += more;
            return wide;
        }

        static synchronized long count() {
            return ++shared;
        }
    }

    class Inner extends Base {
        int wide;
        final List<String> names;

        Inner(int start, List<String> names) {
            super(start > 3 ? new ArrayList<>(names).size() : Long.MAX_VALUE / 2);
            this.names = names;
            this.wide = start + outer;
        }

        long both() {
            return super.wide + this.wide;
        }
    }

    int outer = 7;

    static int switches(int value, String text) {
        int result = 0;
        switch (value) {
            case 0: result += 1;
            case 1: result += 2; break;
            case 2: result += 4; break;
            default: result += 8;
        }
        switch (value * 1000) {
            case -5000: result += 16; break;
            case 0: result += 32; break;
            case 3000: result += 64; break;
        }
        switch (text) {
            case "one" -> result += 128;
            case "two" -> result += 256;
            default -> result += 512;
        }
        return result;
    }

    static String exceptions(int depth) {
        StringBuilder trace = new StringBuilder();
        try {
            try {
                if (depth == 0) {
                    throw new IllegalStateException("bottom");
                }
                int[] array = new int[1];
                array[depth] = 1;
            } finally {
                trace.append("finally ");
            }
        } catch (IllegalStateException | ArrayIndexOutOfBoundsException e) {
            trace.append(e.getClass().getSimpleName());
        }
        return trace.toString();
    }

    /** A jump to the very first instruction. */
    static int loop(int n) {
        while (true) {
            if (n > 100) {
                return n;
            }
            n = n * 3 + 1;
        }
    }

    static long arrays() {
        int[] ints = {1, 2, 3};
        long[] longs = new long[3];
        double[] doubles = {1.5, 2.5, 3.5};
        byte[] bytes = {1, 2, 3};
        boolean[] flags = new boolean[3];
        char[] chars = "abc".toCharArray();
        short[] shorts = {4, 5, 6};
        float[] floats = {0.5f, 1.5f, 2.5f};
        Object[] objects = {"x", null, 3};
        int[][] grid = new int[3][4];
        for (int i = 0; i < 3; i++) {
            longs[i] = ints[i]++ * 10L;
            longs[i] += 5;
            doubles[i] *= 2;
            bytes[i] += 7;
            flags[i] = i % 2 == 0;
            chars[i]++;
            shorts[i] <<= 1;
            floats[i] -= 0.25f;
            objects[i] = String.valueOf(objects[i]) + i;
            grid[i][i + 1] = i;
        }
        long[] copy = new long[5];
        System.arraycopy(longs, 0, copy, 1, 3);
        System.arraycopy(copy, 1, copy, 0, 3);
        return Arrays.hashCode(ints) + Arrays.hashCode(copy) + Arrays.hashCode(doubles) + Arrays.hashCode(bytes)
                + Arrays.hashCode(flags) + Arrays.hashCode(chars) + Arrays.hashCode(shorts)
                + Arrays.hashCode(floats) + Arrays.hashCode(objects) + Arrays.deepHashCode(grid) + longs.clone()[2];
    }

    static <T extends Comparable<T>> T largest(List<? extends T> list) {
        T best = null;
        for (T item : list) {
            if (best == null || item.compareTo(best) > 0) {
                best = item;
            }
        }
        return best;
    }

    static int recursive(int n) {
        return n < 2 ? n : recursive(n - 1) + recursive(n - 2);
    }

    static int thrown(int n) {
        if (n == 0) {
            throw new RuntimeException("deep");
        }
        return thrown(n - 1) + 1;
    }

    static class Refuses {
        Refuses(int n) {
            this(String.valueOf(recursive(n) > 0 ? "x" : null));
        }

        Refuses(String text) {
            super();
            throw new UnsupportedOperationException(text);
        }
    }

    private final Object lock = new Object();
    private final ReentrantLock reentrant = new ReentrantLock();
    private final Condition filled = reentrant.newCondition();
    private final ReentrantReadWriteLock readWrite = new ReentrantReadWriteLock();
    private final AtomicInteger atomic = new AtomicInteger();
    private final AtomicIntegerArray atomics = new AtomicIntegerArray(4);
    private final ArrayList<Integer> queue = new ArrayList<>();
    private int turns;

    long threads() throws Exception {
        ExecutorService pool = Executors.newFixedThreadPool(4);
        List<Future<Long>> futures = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            final int id = i;
            Callable<Long> task = () -> work(id);
            futures.add(pool.submit(task));
        }
        Thread consumer = new Thread(() -> {
            for (int i = 0; i < 20; i++) {
                reentrant.lock();
                try {
                    while (queue.isEmpty()) {
                        filled.awaitUninterruptibly();
                    }
                    atomic.addAndGet(queue.remove(0));
                } finally {
                    reentrant.unlock();
                }
            }
        }, "a consumer with a rather long name");
        consumer.start();
        long sum = 0;
        for (Future<Long> future : futures) {
            sum += future.get();
        }
        consumer.join();
        pool.shutdown();
        return sum + atomic.get() + turns;
    }

    private long work(int id) throws InterruptedException {
        long sum = 0;
        for (int i = 0; i < 5; i++) {
            synchronized (lock) {
                while (turns % 4 != id) {
                    lock.wait();
                }
                turns++;
                lock.notifyAll();
            }
            reentrant.lock();
            try {
                queue.add(i);
                filled.signal();
            } finally {
                reentrant.unlock();
            }
            readWrite.readLock().lock();
            sum += outer;
            readWrite.readLock().unlock();
            if (readWrite.writeLock().tryLock()) {
                outer = 7;
                readWrite.writeLock().unlock();
            }
            atomics.incrementAndGet(i % 4);
            int seen = atomic.get();
            atomic.compareAndSet(seen, seen);
            Thread.yield();
        }
        return sum;
    }

    public static void main(String[] arguments) throws Exception {
        Zoo zoo = new Zoo();
        Map<String, Object> results = new TreeMap<>();
        results.put("arrays", arrays());
        for (int i = 0; i < 4; i++) {
            results.put("switches " + i, switches(i, List.of("one", "two", "three", "four").get(i)));
        }
        results.put("exceptions", exceptions(0) + exceptions(1));
        results.put("loop", loop(1));
        results.put("largest", largest(List.of("pear", "quince", "fig")));
        results.put("recursive", recursive(12));
        try {
            thrown(5);
        } catch (RuntimeException e) {
            results.put("thrown", e.getStackTrace().length > 5);
        }
        try {
            new Refuses(3);
        } catch (UnsupportedOperationException e) {
            results.put("refused", e.getMessage());
        }
        Inner inner = zoo.new Inner(5, List.of("a", "b"));
        inner.add(3);
        inner.ordered += 2;
        inner.precise += Base.ratio;
        inner.flag = !inner.flag;
        inner.letter++;
        inner.brief--;
        inner.small |= 4;
        inner.single /= 2;
        Base.shared = 40;
        Base.count();
        results.put("inner", inner.both() + inner.ordered + inner.letter + inner.names.size() + Base.shared
                + inner.precise + inner.small);
        results.put("square", new Square(3).scaled());
        results.put("colour", Colour.valueOf("GREEN").ordinal());
        Function<Integer, Function<Integer, Integer>> curried = a -> b -> a * b + zoo.outer;
        results.put("curried", curried.apply(6).apply(7));
        results.put("threads", zoo.threads());
        results.put("streams", List.of(1, 2, 3, 4).parallelStream().mapToInt(n -> n * n).sum());
        results.forEach((name, value) -> System.out.println(name + " = " + value));
    }
}
