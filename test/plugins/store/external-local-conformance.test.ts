import { conforms } from './conformance.ts';

await conforms('external-local-store.ts', 'externalLocalSource');
