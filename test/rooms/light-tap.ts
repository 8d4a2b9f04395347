import hooks from 'node:async_hooks';
import { syncBuiltinESMExports } from 'node:module';

const { createHook } = hooks;

/** What tap follows are the resources of a test; promises between them would cost more than what many tests do. */
hooks.createHook = (callbacks) => createHook({ ...callbacks, trackPromises: false });
syncBuiltinESMExports();
/** tap, which does not follow each promise to tell whose test an error that nobody caught belongs to. */
export const { default: tap } = await import('tap');
hooks.createHook = createHook;
syncBuiltinESMExports();
