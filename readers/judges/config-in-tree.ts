import { configuredProgram, isConfigName } from './config-families.ts';
import { directoryOf } from './directory-of.ts';
import type { JudgedTree } from './named.ts';
import { placeTest } from './place-test.ts';
import { isFixture } from './serves-judging.ts';

/** Files of a tree that configure a program that is known, whether or not it runs. */
export class ConfigInTree {
  readonly #paths: readonly string[];

  constructor(tree: JudgedTree) {
    this.#paths = tree
      .under('')
      .filter((path) => isConfigName(path) && !path.includes('node_modules/') && !isFixture(path));
  }

  /** Those of programs that run, where they are read; of a package only in the directories in which programs run. */
  ofPrograms(
    programs: readonly string[],
    places: readonly string[],
  ): readonly { readonly path: string; readonly program: string }[] {
    const isPlace = placeTest(places);
    return this.#paths.flatMap((path) => {
      const how = configuredProgram(path, programs);
      const isRead =
        how?.scope === 'below' || /(?:^|\/)tsconfig[^/]*$/.test(path) || isPlace(directoryOf(path));
      return how !== undefined && isRead ? [{ path, program: how.program }] : [];
    });
  }
}
