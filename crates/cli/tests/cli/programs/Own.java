/** An object that one thread uses for long, and then another one once. */
public class Own {
    private int value;
    private int[] items = new int[8];
    private static Own shared;

    private int work(int step) {
        value = step; // often
        items[step % items.length] = step; // often
        return value + items[step % items.length]; // often
    }

    private synchronized void finish() {
        value = 7; // last write
        items[3] = value; // last element
    }

    private void take() {
        value++; // taken
        items[3]++; // taken
    }

    public static void main(String[] arguments) throws InterruptedException {
        shared = new Own();
        long sum = 0;
        for (int step = 0; step < 20_000; step++) {
            sum += shared.work(step);
        }
        shared.items = new int[4];
        sum += shared.items.length;
        shared.finish();
        Thread other = new Thread(() -> shared.take());
        other.start();
        other.join();
        System.out.println(sum + " " + shared.value + " " + shared.items[3]);
    }
}
