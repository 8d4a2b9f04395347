import type { Jobs } from '../count-work.ts';

/** A job that has to be noticed, and one that has to pass. What counts here is the text that is searched. */
export const jobs: Jobs = {
  'a search from each place': {
    prepare: (size) => {
      const text = 'a'.repeat(size);
      return () => {
        for (let at = 0; at < size; at += 1) text.indexOf('b', at);
      };
    },
    size: 100,
  },
  'one search': {
    prepare: (size) => {
      const text = 'a'.repeat(size);
      return () => text.indexOf('b');
    },
    size: 100,
  },
};
