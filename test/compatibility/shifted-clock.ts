/*
 * `node --import shifted-clock.ts`: the program's clock shows WRIT_STATE_BEGINS at the instant WRIT_STATE_SINCE, both in
 * milliseconds since 1970. A verifier refuses statements about a time that has not come, so states are made in the past
 * of every machine that checks them. A run counts its time while it is killed, so it is resumed soon afterwards.
 */
const { WRIT_STATE_BEGINS = '', WRIT_STATE_SINCE = '' } = process.env;
const real = Date;
const shift = Number(WRIT_STATE_BEGINS) - Number(WRIT_STATE_SINCE);
const now = (): number => real.now() + shift;

if (WRIT_STATE_BEGINS !== '')
  globalThis.Date = new Proxy(real, {
    apply: () => new real(now()).toString(),
    construct: (target, args, newTarget) =>
      Reflect.construct(
        target,
        args.length === 0 ? [now()] : args,
        newTarget === globalThis.Date ? target : newTarget,
      ),
    get: (target, key) => (key === 'now' ? now : Reflect.get(target, key)),
  });
