import java.util.LinkedList;
import java.util.List;

/** One archive and what was found there. */
final class Archive {
    private static final int SEARCH_ROUNDS = 200;

    private final List<Integer> results = new LinkedList<>();

    /** Searches the archive, and notes the result behind those that there are. */
    void ask(int what) {
        if (Crawler.FIXED) {
            synchronized (this) {
                search(what);
            }
        } else {
            search(what);
        }
    }

    private void search(int what) {
        int known = results.size(); // truth:A1
        int result = fetch(what, known);
        results.add(known, result); // truth:A2
    }

    /** The result's number is that of the search. */
    private static int fetch(int what, int number) {
        return Work.compute(what, SEARCH_ROUNDS) == 0 ? 0 : number;
    }

    boolean isComplete() {
        return results.size() == 2 && results.get(1) == 1;
    }
}
