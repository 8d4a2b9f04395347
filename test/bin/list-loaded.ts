/* Loaded before a program (`--import`): writes down, in the file that LOADED_INTO names, the address of each module. */
import { appendFileSync } from 'node:fs';
import { registerHooks } from 'node:module';

const into = process.env.LOADED_INTO ?? '';

registerHooks({
  load(url, context, next) {
    appendFileSync(into, `${url}\n`);
    return next(url, context);
  },
});
