import { WritError } from '../../core/base/errors.ts';
import type { ReachedProvider } from '../../core/contract/provider.ts';
import { builtInProviders } from '../../providers/built-in-providers.ts';
import {
  recordTraffic,
  requireRecordingPlace,
  type TrafficRecording,
} from '../../providers/wire/record-traffic.ts';
import type { OpenedProvider } from '../../providers/wire/traffic-file.ts';

/** Writes down what goes between writ and one provider (`--record DIR`). */
export interface Recorder {
  through(
    reached: Pick<OpenedProvider, 'provider' | 'base' | 'isOtherBase'>,
    secrets: readonly string[],
  ): NonNullable<ReachedProvider['through']>;
  /** What is written down from now on holds no such value. */
  hide(value: string): void;
  /** OUTPUT_FAILED where an exchange could not be kept. */
  finish(): void;
}

/** A recorder into a directory, which is only looked at where nothing is to be written (`dry`). */
export function openRecorder(directory: string, dry: boolean): Recorder {
  let recording: TrafficRecording | undefined;
  const hidden: string[] = [];
  return {
    through: (reached, secrets) => async (stream, model, flags) => {
      if (!Object.hasOwn(builtInProviders, reached.provider))
        throw new WritError('PROVIDER_OPTION', {
          message: `\`--record\` writes down what a built-in provider says, and \`${reached.provider}\` is none`,
          detail: { flag: 'record', provider: reached.provider },
        });
      await requireRecordingPlace(directory);
      if (dry) return stream;
      recording = await recordTraffic(stream, {
        directory,
        opened: { ...reached, model, flags },
        secrets: [...secrets, ...hidden],
      });
      return recording.stream;
    },
    hide(value) {
      hidden.push(value);
      recording?.hide(value);
    },
    finish: () => recording?.close(),
  };
}
