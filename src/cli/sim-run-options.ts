/** Options of `triscope sim run`, on threads and on ranks. */
import { flag, text } from '../model/option.ts';
import { INSTRUMENT_OPTIONS } from '../sim/instrument/options.ts';
import { CHECKPOINT_OPTIONS } from './checkpoint-options.ts';
import type { OptionGroup } from './command.ts';
import { RECORD_OPTIONS } from './companions.ts';
import { INSTRUMENT_GROUP } from './instrumentation.ts';
import { REPLAY_OPTIONS } from './replay-options.ts';
import { ARGS_FILE_OPTION } from './run-command.ts';
import { TRACE_OPTIONS } from './trace-options.ts';
import { transportOptions } from './transport-option.ts';

const TRANSPORT = transportOptions('what PEs are', 'mpi under mpirun, else threads');
const OUTPUT = {
  check: flag(false, 'type-check the model first, with the TypeScript of its project'),
  json: flag(false, 'print one JSON object; what the model prints goes to stderr'),
  ...RECORD_OPTIONS,
  stream: text(
    '',
    'send the samples during the run to a file or pipe, to stdout (-), or to the page (ws)',
    { placeholder: 'PATH', names: 'path' },
  ),
  'ross-csv': text('', 'append one line per run to FILE (ross.csv if not given)', {
    bare: 'ross.csv',
    placeholder: 'FILE',
  }),
};

export const SIM_RUN_OPTIONS = {
  ...TRANSPORT,
  ...INSTRUMENT_OPTIONS,
  ...CHECKPOINT_OPTIONS,
  ...TRACE_OPTIONS,
  ...REPLAY_OPTIONS,
  ...OUTPUT,
  ...ARGS_FILE_OPTION,
};

export const SIM_RUN_GROUPS: readonly OptionGroup[] = [
  { title: 'Transport', options: TRANSPORT },
  INSTRUMENT_GROUP,
  { title: 'Checkpoints', options: CHECKPOINT_OPTIONS },
  { title: 'Debugging', options: { ...TRACE_OPTIONS, ...REPLAY_OPTIONS } },
  { title: 'Output', options: OUTPUT },
];
