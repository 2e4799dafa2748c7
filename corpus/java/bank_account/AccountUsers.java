import java.util.Arrays;

/**
 * Users with an account each. A clerk pays deposits in, from the first user to the last; another one moves money between
 * neighbours, from the last to the first. What a transfer adds to the other account is added without that account's lock,
 * so a deposit that comes at the same moment can be lost.
 */
public final class AccountUsers {
    static final boolean FIXED = Boolean.getBoolean("fixed");
    private static final int USERS = 24;
    private static final int OPENING = 300;
    private static final int DEPOSIT = 100;
    private static final int TRANSFER = 10;

    private final UserAccount[] accounts = new UserAccount[USERS];
    private final UserAccount reserve = new UserAccount(OPENING * USERS);

    private AccountUsers() {
        Arrays.setAll(accounts, user -> new UserAccount(OPENING));
    }

    private void payIn(int user) {
        accounts[user].deposit(DEPOSIT);
    }

    private void supply(int user) {
        reserve.transfer(accounts[user], TRANSFER);
    }

    private boolean areRight() {
        for (UserAccount account : accounts) {
            if (account.amount() != OPENING + DEPOSIT + TRANSFER) {
                return false;
            }
        }
        return reserve.amount() == (OPENING - TRANSFER) * USERS;
    }

    public static void main(String[] arguments) throws InterruptedException {
        AccountUsers users = new AccountUsers();
        new Crossing(USERS).walk(users::payIn, users::supply);
        if (!users.areRight()) {
            System.err.println("an account has not what it should have");
            System.exit(1);
        }
    }
}
