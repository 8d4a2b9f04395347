import type { Door } from './doors.ts';
import type { House, HouseFile } from './house.ts';
import { isShipped, ladders, mayImport, roomOf, rungOf } from './rooms.ts';

/** One rule of the house: what it looked at, and what breaks it. A rule that looks at nothing is broken itself. */
export interface HouseRule {
  readonly name: string;
  readonly check: (house: House) => { readonly matched: number; readonly violations: readonly string[] };
}

export function arrowRule(room: string): HouseRule {
  return {
    name: `arrows of \`${room}\``,
    check: ({ files, edges }) => ({
      matched: files.filter((file) => roomOf(file.path) === room).length,
      violations: edges
        .filter(({ from, to }) => roomOf(from) === room && !mayImport(from, to))
        .map((edge) => `${edge.from} may not import ${edge.to}`),
    }),
  };
}

/** Folders of a room import only what stands below them, and no folder is off the ladder. */
export function ladderRule(ladder: string): HouseRule {
  return {
    name: `the ladder in \`${ladder}\``,
    check: ({ files, edges }) => {
      const rung = (path: string) => rungOf(ladder, path);
      const inside = files.filter(({ path }) => rung(path) !== undefined);
      return {
        matched: inside.length,
        violations: [
          ...inside
            .filter(({ path }) => rung(path) === -1)
            .map(({ path }) => `${path} stands on none of ${ladders[ladder]?.join(', ')}`),
          ...edges
            .filter(({ from, to }) => (rung(to) ?? -1) > (rung(from) ?? Number.POSITIVE_INFINITY))
            .map(({ from, to }) => `${from} looks up to ${to}`),
        ],
      };
    },
  };
}

export function doorRule({ name, file: door, servers, typesAreFree, specifier, code }: Door): HouseRule {
  const uses = ({ imports, code: text }: HouseFile) =>
    imports.some((one) => specifier?.test(one.specifier) && !(typesAreFree && one.kind === 'type')) ||
    code?.test(text) === true;
  return {
    name: door === undefined ? `nobody touches ${name}` : `${name} only through \`${door}\``,
    check: ({ files }) => {
      const shipped = files.filter((file) => isShipped(file.path));
      const users = shipped.filter(uses);
      return {
        // A door that does not use what it guards guards nothing.
        matched: door === undefined ? shipped.length : users.filter((file) => file.path === door).length,
        violations: users
          .filter((file) => file.path !== door && servers?.includes(file.path) !== true)
          .map((file) => `${file.path} touches ${name}`),
      };
    },
  };
}

export function perFile(
  name: string,
  isSubject: (path: string) => boolean,
  judge: (file: HouseFile) => readonly string[],
): HouseRule {
  return {
    name,
    check: ({ files }) => {
      const subjects = files.filter((file) => isSubject(file.path));
      return {
        matched: subjects.length,
        violations: subjects.flatMap((file) => judge(file).map((what) => `${file.path} ${what}`)),
      };
    },
  };
}

/** What one file declares and some shipped code must use: a point that nothing asks would be decoration. */
export function declaredAndUsed(
  name: string,
  path: string,
  declaration: RegExp,
  use: (declared: string) => RegExp,
): HouseRule {
  return {
    name,
    check: ({ files }) => {
      const text = files.find((file) => file.path === path)?.text ?? '';
      const declared = [...text.matchAll(declaration)].map((match) => match[1] ?? '');
      const shipped = files
        .filter((file) => isShipped(file.path))
        // In two steps: strings of the page are blanked to lines of blanks that are quadratic for one expression.
        .map((file) => file.code.replace(/\s+/g, ' ').replace(/ ?\. ?/g, '.'));
      return {
        matched: declared.length,
        violations: declared
          .filter((one) => !shipped.some((code) => use(one).test(code)))
          .map((one) => `nothing in the shipped code uses \`${one}\``),
      };
    },
  };
}
