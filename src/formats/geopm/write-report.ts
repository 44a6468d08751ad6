/**
 * Writes a GEOPM report: YAML with the names, order and number text that GEOPM's own tools expect
 * (geopm_report(7)), but with every name escaped.
 */
import { generalText } from './number-text.ts';
import type {
  AgentFields,
  ExtraValue,
  HostReport,
  Report,
  ReportFields,
  ReportValue,
} from './report.ts';
import { hashText } from './values.ts';
import { plain, quoted } from './yaml-text.ts';

const valueText = (value: ReportValue) =>
  typeof value === 'number' ? generalText(value) : plain(value);

/** The fields' keys are Triscope's own or names of signals: `TIME@package-0`, `MSR::X#`. */
const keyText = (key: string) => (/^[A-Za-z][\w .@:()/%-]*$/.test(key) ? key : quoted(key));

function fieldLines(fields: ReportFields, indent: string): string {
  let text = '';
  for (const [key, value] of fields) text += `${indent}${keyText(key)}: ${valueText(value)}\n`;
  return text;
}

/** A mapping on one line, as in `Frequency map: {0x1: 2e9}`; its numbers are written with all digits. */
function agentLines(fields: AgentFields, indent: string): string {
  let text = '';
  for (const [key, value] of fields) {
    if (typeof value === 'object') {
      const parts = [...value].map(([name, v]) => `${keyOf(name)}: ${v}`);
      text += `${indent}${keyText(key)}: {${parts.join(', ')}}\n`;
    } else text += `${indent}${keyText(key)}: ${valueText(value)}\n`;
  }
  return text;
}

const keyOf = (name: string) => (/^0x[0-9a-f]+$/.test(name) ? name : plain(name));

const isList = (value: ExtraValue): value is readonly ExtraValue[] => Array.isArray(value);

function scalarText(value: ReportValue | boolean): string {
  if (typeof value === 'string') return quoted(value);
  // With all digits: these are not GEOPM's fields.
  if (typeof value === 'number') return Number.isFinite(value) ? numberInFull(value) : '.nan';
  return String(value);
}

/** The shortest text that reads back as the same double, with a point before the exponent, which YAML 1.1 requires. */
function numberInFull(value: number): string {
  const text = String(value);
  return /^-?\d+e/.test(text) ? text.replace('e', '.0e') : text;
}

/** Nested values in block style, `indent` deep. */
function extraLines(value: ExtraValue, indent: string): string {
  if (isList(value)) {
    return value
      .map((item) => {
        if (typeof item !== 'object') return `${indent}- ${scalarText(item)}\n`;
        return isEmpty(item) ? `${indent}- ${emptyText(item)}\n` : dashed(item, indent);
      })
      .join('');
  }
  if (typeof value !== 'object') return `${indent}${scalarText(value)}\n`;
  let text = '';
  for (const [key, item] of Object.entries(value)) {
    const head = `${indent}${keyText(key)}:`;
    if (typeof item !== 'object') text += `${head} ${scalarText(item)}\n`;
    else if (isEmpty(item)) text += `${head} ${emptyText(item)}\n`;
    else text += `${head}\n${extraLines(item, `${indent}  `)}`;
  }
  return text;
}

const isEmpty = (value: object) => Object.keys(value).length === 0;
const emptyText = (value: object) => (Array.isArray(value) ? '[]' : '{}');

/** An item of a list: its first line begins with the dash. */
function dashed(item: ExtraValue, indent: string): string {
  const lines = extraLines(item, `${indent}  `);
  return `${indent}- ${lines.slice(indent.length + 2)}`;
}

function hostText(host: HostReport): string {
  const inner = '    ';
  let text = `  ${plain(host.name)}:\n${agentLines(host.agent ?? new Map(), inner)}`;
  if (host.regions.length > 0) text += `${inner}Regions:\n`;
  for (const region of host.regions) {
    text += `${inner}-\n${inner}  region: ${quoted(region.name)}\n`;
    text += `${inner}  hash: ${hashText(region.hash)}\n${fieldLines(region.fields, `${inner}  `)}`;
  }
  const sections: [string, ReportFields | undefined][] = [
    ['Unmarked Totals', host.unmarked],
    ['Epoch Totals', host.epoch],
    ['Application Totals', host.application],
  ];
  for (const [name, fields] of sections) {
    if (fields !== undefined) text += `${inner}${name}:\n${fieldLines(fields, `${inner}  `)}`;
  }
  if (host.extra !== undefined && !isEmpty(host.extra)) {
    text += `${inner}Triscope:\n${extraLines(host.extra, `${inner}  `)}`;
  }
  return text;
}

/** The whole report. */
export function reportText(report: Report): string {
  return [
    `GEOPM Version: ${report.version}\n`,
    `Start Time: ${report.startTime}\n`,
    `Profile: ${quoted(report.profile)}\n`,
    `Agent: ${plain(report.agent)}\n`,
    `Policy: ${report.policy}\n`,
    agentLines(report.agentHeader ?? new Map(), ''),
    '\nHosts:\n',
    ...report.hosts.map(hostText),
    '\n',
  ].join('');
}
