import java.lang.invoke.MethodHandles;

/** Computes them, and uses the class that has them. */
public class Constants {
    private static int computed;

    static synchronized int computed() {
        return ++computed;
    }

    static Object compute(MethodHandles.Lookup lookup, String name, Class<?> type) {
        computed();
        return type == int.class ? (Object) 3 : (Object) 4L;
    }

    public static void main(String[] arguments) throws Exception {
        Thread other = new Thread(Constants::addTwice);
        other.start();
        other.join();
        addTwice();
        System.out.println(Made.total + " " + computed);
    }

    private static void addTwice() {
        Made.add();
        Made.add();
    }
}
