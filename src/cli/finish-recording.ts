import { RecordError } from '../formats/recording-folder.ts';
import type { RecordingSource } from '../model/recording.ts';
import type { Model } from '../sim/model.ts';
import type { SimRecording } from '../sim/record.ts';
import type { RunResult } from '../sim/statistics.ts';

/** Completes the recording. Where that cannot be written, the run still has its result. */
export function finishRecording(
  recording: SimRecording | null,
  result: RunResult,
  model: Model,
  others: readonly RecordingSource[],
): { readonly recorded: RunResult; readonly unrecorded: RecordError | null } {
  try {
    return { recorded: recording?.finish(result, model, others) ?? result, unrecorded: null };
  } catch (error) {
    if (!(error instanceof RecordError)) throw error;
    recording?.fail(error);
    return { recorded: result, unrecorded: error };
  }
}
