#!/usr/bin/env bash
# Builds ebb._native with a compiler alone, for a machine with PyTorch and the CUDA toolkit but without CMake packages:
#
#   bench/gpu/build_adapter.sh HEADERS [FOLDER]        then: PYTHONPATH=FOLDER/python python3 …
#
# HEADERS holds fmt/, nlohmann/, Eigen/, oneapi/, zlib.h, zconf.h and zstd.h (Debian: libfmt-dev, nlohmann-json3-dev,
# libeigen3-dev, libtbb-dev, zlib1g-dev, libzstd-dev); libz.so.1, libzstd.so.1 and libtbb.so.12 have to be on the machine
# or in LIBRARIES. FOLDER is build-gpu unless given. What changed is compiled again; PYTHON, CXX and CUDA_HOME choose
# others than python3, g++ and /usr/local/cuda. CORE names archives of the core, built elsewhere with EBB_CUDA=ON and
# position-independent code, to compile the adapter alone.
set -euo pipefail
headers=$(realpath "$1")
root=$(cd "$(dirname "$0")/../.." && pwd)
folder=${2:-$root/build-gpu}
python=${PYTHON:-python3}
export CXX=${CXX:-g++}
cuda=${CUDA_HOME:-/usr/local/cuda}
mkdir -p "$folder/python/ebb"
folder=$(realpath "$folder")
cd "$root"

torch=$("$python" -c 'import os, torch; print(os.path.dirname(torch.__file__))')
suffix=$("$python" -c 'import sysconfig; print(sysconfig.get_config_var("EXT_SUFFIX"))')
python_include=$("$python" -c 'import sysconfig; print(sysconfig.get_path("include"))')
abi=$("$python" -c 'import torch; print(int(torch._C._GLIBCXX_USE_CXX11_ABI))')

export FLAGS="-std=c++20 -O2 -fPIC -DNDEBUG -DFMT_HEADER_ONLY -D_GLIBCXX_USE_CXX11_ABI=$abi -Isrc -isystem $headers -isystem $cuda/include"
export TORCH_FLAGS="-fvisibility=hidden -fvisibility-inlines-hidden -isystem $torch/include -isystem $torch/include/torch/csrc/api/include -isystem $python_include"
export FOLDER=$folder

# Linear programs are for bounds, which nothing here asks for; their solver is a library more.
core=
if [ -z "${CORE:-}" ]; then
  core="bench/gpu/no_lp.cc $(find src/{trace,machine,plan,simulate,layout,planners,backend,runtime,report} -name '*.cc' \
    ! -path src/simulate/lp.cc ! -path src/backend/cuda/no_cuda.cc ! -path 'src/planners/dqn/*')"
fi
adapter=$(find src/torch -name '*.cc' ! -name no_cuda_platform.cc)

compile() { # compile SOURCE
  local object=$FOLDER/objects/${1//\//_}.o flags=$FLAGS
  case $1 in src/torch/*) flags="$flags $TORCH_FLAGS" ;; esac
  if [ -e "$object" ] && [ -e "$object.d" ] &&
    ! sed -e 's/^[^:]*://' -e 's/\\$//' "$object.d" | tr ' ' '\n' | grep . | xargs -r -I{} find {} -newer "$object" 2>/dev/null | grep -q .; then
    return
  fi
  $CXX $flags -MMD -MF "$object.d" -c "$1" -o "$object" || { echo "failed: $1" >&2; return 1; }
}
export -f compile
mkdir -p "$folder/objects"
printf '%s\n' $adapter $core | xargs -P "$(nproc)" -I{} bash -c 'compile {}'

"$CXX" -shared -Wl,-Bsymbolic-functions -o "$folder/python/ebb/_native$suffix" \
  $(for source in $core $adapter; do echo "$folder/objects/${source//\//_}.o"; done) \
  -L"$torch/lib" -Wl,-rpath,"$torch/lib" -ltorch_python -ltorch -ltorch_cpu -ltorch_cuda -lc10 -lc10_cuda \
  -L"$cuda/lib64" -Wl,-rpath,"$cuda/lib64" -lcudart \
  ${CORE:+-Wl,--start-group $CORE -Wl,--end-group} \
  ${LIBRARIES:+-L"$LIBRARIES" -Wl,-rpath,"$LIBRARIES"} -l:libz.so.1 -l:libzstd.so.1 -l:libtbb.so.12 -lpthread
for file in python/ebb/*.py; do
  [ -e "$file" ] && ln -sf "$root/$file" "$folder/python/ebb/"
done
PYTHONPATH="$folder/python" "$python" -c 'import torch, ebb._native; print("built for PyTorch", ebb._native.torch_version)'
