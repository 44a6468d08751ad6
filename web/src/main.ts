import { mount } from 'svelte';
import 'uplot/dist/uPlot.min.css';
import './style.css';
import App from './App.svelte';

const target = document.getElementById('app');
if (target !== null) mount(App, { target });
