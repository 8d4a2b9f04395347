/** What leaves a part of a file of tests to `npm run test:long`: whatever stands on one of these has such a part. */
export const leavers: readonly string[] = [
  'test/rooms/fixed-count.ts',
  'test/rooms/fixed-part.ts',
  'test/rooms/fixed-third.ts',
  'test/rooms/long-test.ts',
];
