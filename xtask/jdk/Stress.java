import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.Future;
import java.util.concurrent.Phaser;
import java.util.concurrent.RecursiveTask;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.LongStream;

/** Everything that java.util.concurrent lets threads wait for, with results that depend on no order. */
public class Stress {
    private static final int TASKS = 12;
    private static final int THREADS = 3;

    private static long counted;

    private static synchronized void count(long more) {
        counted += more;
    }

    private static long streams() {
        long squares = LongStream.rangeClosed(1, 200).parallel().map(n -> n * n).sum();
        List<Integer> sorted = IntStream.range(0, 100).parallel().map(n -> n * 37 % 101).boxed().sorted().toList();
        var groups = IntStream.range(0, 100).boxed().parallel()
                .collect(Collectors.groupingByConcurrent(n -> n % 7, ConcurrentHashMap::new, Collectors.counting()));
        return squares + sorted.get(50) + groups.get(3);
    }

    private static long executors() throws Exception {
        ExecutorService pool = Executors.newFixedThreadPool(THREADS);
        List<Future<Integer>> results = new ArrayList<>();
        for (int task = 0; task < TASKS; task++) {
            final int number = task;
            results.add(pool.submit(() -> {
                count(number);
                return number * number;
            }));
        }
        long sum = 0;
        for (Future<Integer> result : results) {
            sum += result.get();
        }
        sum += pool.invokeAny(List.<Callable<Integer>>of(() -> 5, () -> 5));
        pool.shutdown();
        if (!pool.awaitTermination(1, TimeUnit.MINUTES)) {
            throw new IllegalStateException("the pool does not end");
        }
        ScheduledExecutorService clock = Executors.newSingleThreadScheduledExecutor();
        sum += clock.schedule(() -> 3, 1, TimeUnit.MILLISECONDS).get();
        clock.shutdownNow();
        return sum;
    }

    private static long futures() {
        List<CompletableFuture<Integer>> parts = IntStream.range(0, TASKS)
                .mapToObj(n -> CompletableFuture.supplyAsync(() -> n).thenApplyAsync(m -> m + 1))
                .toList();
        CompletableFuture<Integer> fails = CompletableFuture.supplyAsync(() -> {
            throw new IllegalStateException("as planned");
        });
        CompletableFuture<Integer> both = parts.get(0).thenCombine(fails.exceptionally(why -> 10), Integer::sum);
        CompletableFuture.allOf(parts.toArray(CompletableFuture[]::new)).join();
        return parts.stream().mapToInt(CompletableFuture::join).sum() + both.join();
    }

    static class Fibonacci extends RecursiveTask<Integer> {
        private final int n;

        Fibonacci(int n) {
            this.n = n;
        }

        @Override
        protected Integer compute() {
            if (n < 2) {
                return n;
            }
            Fibonacci left = new Fibonacci(n - 1);
            left.fork();
            return new Fibonacci(n - 2).compute() + left.join();
        }
    }

    private static long meetings() throws Exception {
        BlockingQueue<Integer> queue = new ArrayBlockingQueue<>(2);
        CyclicBarrier barrier = new CyclicBarrier(THREADS);
        CountDownLatch done = new CountDownLatch(THREADS);
        Phaser phaser = new Phaser(1);
        for (int thread = 0; thread < THREADS; thread++) {
            phaser.register();
            new Thread(() -> {
                try {
                    for (int round = 0; round < 3; round++) {
                        barrier.await();
                        queue.put(round);
                    }
                    phaser.arriveAndDeregister();
                    done.countDown();
                } catch (Exception broken) {
                    throw new IllegalStateException(broken);
                }
            }).start();
        }
        long sum = 0;
        for (int item = 0; item < 3 * THREADS; item++) {
            sum += queue.take();
        }
        done.await();
        phaser.arriveAndAwaitAdvance();
        return sum + phaser.getPhase();
    }

    public static void main(String[] arguments) throws Exception {
        System.out.println("streams " + streams());
        System.out.println("executors " + executors());
        System.out.println("futures " + futures());
        System.out.println("fork and join " + ForkJoinPool.commonPool().invoke(new Fibonacci(9)));
        System.out.println("meetings " + meetings());
        System.out.println("counted " + counted);
    }
}
