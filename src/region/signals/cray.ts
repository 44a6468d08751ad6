/** Cray EX and XC: counters of the node's controller, ten times a second, readable by all users. Files such as `1234 J 5678 us`. */
import type { Provider, Signal, SignalDeclaration } from './provider.ts';
import { totalOfFile } from './running-total.ts';
import { scaled } from './sum-of.ts';

const FOLDER = 'sys/cray/pm_counters';

type Counter = SignalDeclaration & { readonly file: string };

const energy = (name: string, alias: string, of: string, file: string): Counter => ({
  name: `CRAY::${name}_ENERGY`,
  alias,
  description: `Energy used by ${of}`,
  unit: 'J',
  domain: 'board',
  behaviour: 'monotone',
  aggregation: 'sum',
  format: 'double',
  file,
});

const power = (name: string, alias: string, of: string, file: string): Counter => ({
  name: `CRAY::${name}_POWER`,
  alias,
  description: `Power of ${of}`,
  unit: 'W',
  domain: 'board',
  behaviour: 'variable',
  aggregation: 'sum',
  format: 'double',
  file,
});

const COUNTERS: readonly Counter[] = [
  energy('BOARD', 'BOARD_ENERGY', 'the whole node', 'energy'),
  power('BOARD', 'BOARD_POWER', 'the whole node', 'power'),
  energy('CPU', 'CPU_ENERGY', 'the packages', 'cpu_energy'),
  power('CPU', 'CPU_POWER', 'the packages', 'cpu_power'),
  energy('MEMORY', 'DRAM_ENERGY', 'the memory', 'memory_energy'),
  power('MEMORY', 'DRAM_POWER', 'the memory', 'memory_power'),
];

/** Counters of single accelerators, with the accelerator's number in the name. */
const ACCELERATORS: readonly Counter[] = [
  energy('ACCEL{N}', '', 'accelerator N', 'accel{N}_energy'),
  power('ACCEL{N}', '', 'accelerator N', 'accel{N}_power'),
];

const declarationOf = ({ file: _, alias, ...declaration }: Counter): SignalDeclaration =>
  alias ? { ...declaration, alias } : declaration;

export const cray: Provider = {
  name: 'cray',
  source: '/sys/cray/pm_counters',
  declares: [...COUNTERS, ...ACCELERATORS].map(declarationOf),
  open({ machine }) {
    const numbers = machine.list(FOLDER, /^accel\d+_(energy|power)$/).map((file) => {
      return /\d+/.exec(file)?.[0] ?? '';
    });
    const accelerators = [...new Set(numbers)].flatMap((number) =>
      ACCELERATORS.map((counter) => ({
        ...counter,
        name: counter.name.replace('{N}', number),
        description: counter.description.replace('N', number),
        file: counter.file.replace('{N}', number),
      })),
    );
    const found = [...COUNTERS, ...accelerators].filter(({ file }) =>
      machine.canRead(`${FOLDER}/${file}`),
    );
    return {
      signals: found.map((counter): Signal => {
        const path = `${FOLDER}/${counter.file}`;
        return {
          ...declarationOf(counter),
          open: (_, tick) =>
            counter.unit === 'J'
              ? totalOfFile(tick, tick.file(path), 1)
              : scaled(tick.file(path), 1),
        };
      }),
    };
  },
};
