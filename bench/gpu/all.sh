#!/usr/bin/env bash
# What planned PyTorch has to show on a GPU, one measurement after the other:
#
#   bench/gpu/all.sh FOLDER [SECONDS]        with the package on PYTHONPATH
#
# Each writes FOLDER/NAME.txt and its rows; one that is complete is not done again, and none begins that may not end
# within SECONDS (600), so that calls which are cut short go on where the last one ended, wherever FOLDER is carried to.
# BESIDE=checkpoint leaves out save_on_cpu, whose steps take 10 to 50 times as long.
set -uo pipefail
cd "$(dirname "$0")/../.." || exit
folder=$1
seconds=${2:-600}
mkdir -p "$folder"
export PYTHONUNBUFFERED=1

measure() { # measure NAME SECONDS COMMAND...
  local name=$1 most=$2
  shift 2
  if [ -e "$folder/$name.done" ]; then return; fi
  if [ $((SECONDS + most)) -gt "$seconds" ]; then
    echo "== $name: left for another call, it may take $most s"
    return
  fi
  echo "== $name after $SECONDS s: $*"
  timeout "$most" "$@" 2>&1 | grep -v Warning | tee "$folder/$name.txt"
  # Whether all was as it should be is said by the rows.
  if grep -q ' rows, ' "$folder/$name.txt"; then touch "$folder/$name.done"; fi
}

measure bf16 100 python3 bench/gpu/planned.py --models resnet50 vit_base --shares 50 --beside --precision bf16 --steps 5 --patience 2 \
  --json "$folder/bf16.json"
measure deep 260 python3 bench/gpu/paper_tables.py --parts deep --ours-alone --plans "$folder/plans" --seconds 250 \
  --timeout 200 --json "$folder/deep.jsonl"
measure planners 150 python3 bench/gpu/planned.py --models resnet50 --shares 75 55 --planners autoswap-bo dynprog home drop-cheap \
  --beside --steps 6 --patience 1 --json "$folder/planners.json"
read -ra beside <<< "${BESIDE:-checkpoint save_on_cpu}"
models=(--beside "${beside[@]}" --at-checkpoint --steps 6 --patience 5 --timeout 90)
for model in resnet50:180 gpt2:230 vgg16:150 densenet121:130 vit_base:180; do
  measure "${model%:*}" "${model#*:}" python3 bench/gpu/planned.py --models "${model%:*}" "${models[@]}" --json "$folder/${model%:*}.json"
done
for part in batch:140 smartpool:245 home:335; do
  measure "${part%:*}" "${part#*:}" python3 bench/gpu/paper_tables.py --parts "${part%:*}" --json "$folder/${part%:*}.jsonl"
done
ls "$folder"
