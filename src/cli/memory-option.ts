/** `--memory`, of commands that read recordings by SQL. */
import { text } from '../model/option.ts';
import { UsageError } from './errors.ts';

export const MEMORY = text(
  '512MiB',
  'memory for intermediate results; the rest goes to a temporary folder',
  { placeholder: 'SIZE' },
);

const SIZE = /^\d+(\.\d+)?\s*[KMGT]i?B$/i;

/** Its value, where it is given. @throws UsageError */
export function memoryOf(given: string | undefined): string | undefined {
  if (given !== undefined && !SIZE.test(given)) {
    throw new UsageError(`--memory ${given}: must be a size such as 2GB`);
  }
  return given;
}
