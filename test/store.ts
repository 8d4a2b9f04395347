import './core/store/git-native-store.test.ts';
import './core/store/journal.test.ts';
import './core/store/run-lock.test.ts';
import './core/store/stored-object.test.ts';
