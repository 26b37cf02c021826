#!/usr/bin/env bash
# Records, on the CPU, the two steps of [DQN] fig. 5 that no trace exists of: K-means and a ResNet-56 with stochastic depth, at full depth.
# Usage: bench/papers/record_dqn_inputs.sh BUILD FOLDER
set -euo pipefail
cd "$(dirname "$0")/../.."
build=$1 folder=$2
mkdir -p "$folder"
"$build/bin/kmeans" --points 50000 --chunk 2048 --clusters 1024 --dimensions 32 --iterations 4 --limit 0.9 --trace "$folder/kmeans.ebb"
"$build/bin/ebb" record -o "$folder/stochastic-depth.ebb" --device cpu -- /usr/bin/python3 -W ignore bench/papers/stochastic_depth.py
