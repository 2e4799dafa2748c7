import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.LinkedBlockingQueue;

/** All ways to use collections of the library: what each does is in a comment. */
public class Shelves {
    enum Color { RED, GREEN }

    static class Place {
        private final int row;

        Place(int row) {
            this.row = row;
        }

        @Override
        public int hashCode() {
            return row;
        }

        @Override
        public boolean equals(Object other) {
            return other instanceof Place && ((Place) other).row == row;
        }
    }

    static class Recent extends LinkedHashMap<String, String> {}

    private final Map<String, Integer> stock = new HashMap<>();
    private final ConcurrentMap<Integer, String> labels = new ConcurrentHashMap<>();
    private final Map<Color, String> colors = Collections.synchronizedMap(new TreeMap<>());
    private final Map<Place, String> places = new HashMap<>();
    private final Set<String> tags = new HashSet<>();
    private final List<String> items = new ArrayList<>();
    private final BlockingQueue<String> orders = new LinkedBlockingQueue<>();
    private final Map<String, String> recent = new Recent();

    private int use() throws InterruptedException {
        int seen = 0;
        stock.put("pen", 1); // puts
        stock.get("pen"); // gets
        stock.size(); // counts
        stock.merge("ink", 1, Integer::sum); // merges
        labels.computeIfAbsent(7, number -> "seven"); // computes
        labels.putIfAbsent(8, "eight"); // may put
        colors.put(Color.RED, "red"); // colors
        places.put(new Place(1), "here"); // places
        places.get(new Place(1)); // found
        if (tags.add("new")) { // adds
            seen++;
        }
        tags.contains("new"); // contains
        items.add("a"); // appends
        items.set(0, "b"); // sets
        items.get(0); // element
        orders.put("order"); // orders
        seen += orders.take().length(); // takes
        for (String item : items) { // iterates
            seen += item.length();
        }
        for (Iterator<String> each = tags.iterator(); each.hasNext(); ) { // views
            seen += each.next().length(); // steps
        }
        for (String key : stock.keySet()) { // keys
            seen += key.length();
        }
        recent.put("last", "b"); // inherited
        labels.clear(); // clears
        return seen;
    }

    public static void main(String[] arguments) throws Exception {
        Shelves shelves = new Shelves();
        int[] seen = new int[2];
        for (int round = 0; round < 2; round++) {
            int number = round;
            Thread user = new Thread(() -> {
                try {
                    seen[number] = shelves.use();
                } catch (InterruptedException unexpected) {
                    throw new IllegalStateException(unexpected);
                }
            });
            user.start();
            user.join();
        }
        System.out.println(seen[0] + " " + seen[1]);
    }
}
