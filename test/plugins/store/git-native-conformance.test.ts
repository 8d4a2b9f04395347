import { conforms } from './conformance.ts';

await conforms('git-native-store.ts', 'gitNativeSource');
