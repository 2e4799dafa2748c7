/** What a customer does in a shop. */
final class Customer {
    private static final int CHOOSE_ROUNDS = 200;

    private Customer() {
    }

    /** Buys an item if there is one, zero if there is none. */
    static int buy(Storage storage) {
        if (Suppliers.FIXED) {
            synchronized (storage) {
                return tryToBuy(storage);
            }
        }
        return tryToBuy(storage);
    }

    private static int tryToBuy(Storage storage) {
        if (storage.isEmpty() || !chooses()) {
            return 0;
        }
        return storage.getItem();
    }

    private static boolean chooses() {
        return Work.compute(1, CHOOSE_ROUNDS) != 0;
    }
}
