import { long } from '../../rooms/long.ts';
import { subjectOf } from './conformance.ts';
import { storeTester } from './store-tester.ts';

const subject = subjectOf(
  new URL('../../../plugins/store/external-local-store.ts', import.meta.url),
  'externalLocalSource',
);
// `npm test` runs the tester on the store in git.
long('the external store keeps every promise of a store', (t) => storeTester(t, subject));
