import type { House } from './house.ts';
import type { HouseRule } from './rule-kinds.ts';

/** What the screens of a session share. */
const shared = 'session/screen';
const seen = 'session/state/snapshot.ts';
/** Rooms below a session that each screen may use besides: the page is no program of node's. */
const roomsOf: Readonly<Record<string, readonly string[]>> = {
  'session/tui': ['core/base'],
  'session/web': [],
};

/** A screen is a function of the snapshot and of what is typed (decision 0018): it reaches no rule. */
function screenRule(screen: string): HouseRule {
  const rooms = [screen, shared, ...(roomsOf[screen] ?? [])];
  return {
    name: `\`${screen}\` knows \`${shared}\` and the form of a snapshot`,
    check: ({ files, edges }: House) => {
      const own = edges.filter(({ from }) => from.startsWith(`${screen}/`));
      const kinds = new Map(
        files.flatMap(({ path, imports }) =>
          imports.map((one) => [`${path}\n${one.specifier}`, one.kind] as const),
        ),
      );
      const isForm = (edge: (typeof own)[number]): boolean =>
        edge.to === seen && kinds.get(`${edge.from}\n${edge.specifier}`) === 'type';
      return {
        matched: files.filter(({ path }) => path.startsWith(`${screen}/`)).length,
        violations: own
          .filter((edge) => !rooms.some((room) => edge.to.startsWith(`${room}/`)) && !isForm(edge))
          .map(({ from, to }) => `${from} may not import ${to}`),
      };
    },
  };
}

export const screenRules: readonly HouseRule[] = [
  ...Object.keys(roomsOf).map(screenRule),
  {
    name: `\`${shared}\` and the page run in a browser`,
    check: ({ files }) => {
      const inPage = files.filter(({ path }) => /^session\/(?:screen|web)\//.test(path));
      return {
        matched: inPage.length,
        violations: inPage.flatMap(({ path, specifiers }) =>
          specifiers.filter((one) => one.startsWith('node:')).map((one) => `${path} imports \`${one}\``),
        ),
      };
    },
  },
];
