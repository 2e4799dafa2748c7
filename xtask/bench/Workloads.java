import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.atomic.AtomicLong;

/** Ways in which Java programs use memory together, each by two threads, with results that depend on no order. */
public class Workloads {
    interface Work {
        long run(int thread) throws Exception;
    }

    /** Numbers in arrays of their own. */
    private static long compute(int thread) {
        int size = 140;
        double[][] left = new double[size][size];
        double[][] right = new double[size][size];
        for (int row = 0; row < size; row++) {
            for (int column = 0; column < size; column++) {
                left[row][column] = row + column;
                right[row][column] = row - column;
            }
        }
        double trace = 0;
        for (int row = 0; row < size; row++) {
            for (int column = 0; column < size; column++) {
                double sum = 0;
                for (int inner = 0; inner < size; inner++) {
                    sum += left[row][inner] * right[inner][column];
                }
                trace += row == column ? sum : 0;
            }
        }
        return (long) trace;
    }

    private static final long[] accounts = new long[64];
    private static final Object[] guards = new Object[accounts.length];

    /** Many short critical sections. */
    private static long locks(int thread) {
        long seen = 0;
        for (int step = 0; step < 160_000; step++) {
            int account = (step * 31 + thread) % accounts.length;
            synchronized (guards[account]) {
                accounts[account]++;
            }
            seen++;
        }
        return seen;
    }

    private static final AtomicLong shared = new AtomicLong();

    /** One word that both threads want. */
    private static long lockFree(int thread) {
        for (int step = 0; step < 160_000; step++) {
            long seen;
            do {
                seen = shared.get();
            } while (!shared.compareAndSet(seen, seen + 1));
        }
        return 0;
    }

    private static final BlockingQueue<int[]> queue = new ArrayBlockingQueue<>(16);

    /** One makes, the other uses. */
    private static long queue(int thread) throws InterruptedException {
        long sum = 0;
        for (int item = 0; item < 16_000; item++) {
            if (thread == 0) {
                queue.put(new int[] {item, item + 1, item + 2, item + 3});
            } else {
                for (int number : queue.take()) {
                    sum += number;
                }
            }
        }
        return sum;
    }

    /** Objects and collections of the library, each thread its own. */
    private static long text(int thread) {
        Map<String, Integer> counts = new HashMap<>();
        for (int word = 0; word < 120_000; word++) {
            counts.merge("word" + word * 37 % 1000, 1, Integer::sum);
        }
        return counts.size();
    }

    public static void main(String[] arguments) throws Exception {
        for (int guard = 0; guard < guards.length; guard++) {
            guards[guard] = new Object();
        }
        Work work = switch (arguments[0]) {
            case "compute" -> Workloads::compute;
            case "locks" -> Workloads::locks;
            case "lock-free" -> Workloads::lockFree;
            case "queue" -> Workloads::queue;
            case "text" -> Workloads::text;
            default -> throw new IllegalArgumentException(arguments[0]);
        };
        long[] results = new long[2];
        Thread[] threads = new Thread[results.length];
        for (int thread = 0; thread < threads.length; thread++) {
            final int number = thread;
            threads[thread] = new Thread(() -> {
                try {
                    results[number] = work.run(number);
                } catch (Exception broken) {
                    throw new IllegalStateException(broken);
                }
            });
            threads[thread].start();
        }
        long total = 0;
        for (int thread = 0; thread < threads.length; thread++) {
            threads[thread].join();
            total += results[thread];
        }
        System.out.println(total + shared.get());
    }
}
