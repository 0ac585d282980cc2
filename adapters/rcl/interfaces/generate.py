"""Generate the C code of the interfaces in this folder with the generators of a ROS 2 from PyPI.

Run it with the Python of the environment with the wheels: generate.py OUTPUT [python]. Writes one folder per package
into OUTPUT. python: generates also the classes of Python and their C code. Prints the paths of the C and C++ sources,
one per line.
"""

import os
import sys
from pathlib import Path

os.environ["AMENT_PREFIX_PATH"] = sys.prefix

from rosidl_generator_c.cli import GenerateC
from rosidl_generator_py.cli import GeneratePython
from rosidl_typesupport_c.cli import GenerateCTypesupport
from rosidl_typesupport_fastrtps_c.cli import GenerateFastRTPSCTypesupport

HERE = Path(__file__).parent


def main(output: Path, *, python: bool) -> None:
    """Generate each package."""
    installed = [str(each) for each in (Path(sys.prefix) / "share").iterdir() if list(each.glob("*/*.idl"))]
    for package in sorted(each for each in HERE.iterdir() if each.is_dir()):
        files = [f"{package}:{each.relative_to(package)}" for each in sorted(package.glob("*/*.idl"))]
        generators = [
            GenerateC("c"),
            GenerateFastRTPSCTypesupport("fastrtps_c"),
            GenerateCTypesupport("c", typesupport_implementations=["rosidl_typesupport_fastrtps_c"]),
        ]
        if python:
            generators.append(GeneratePython("py", typesupport_implementations=["rosidl_typesupport_c"]))
        for generator in generators:
            for made in generator.generate(package.name, files, installed, output / package.name):
                if str(made).endswith((".c", ".cpp")):
                    print(made)


main(Path(sys.argv[1]), python="python" in sys.argv[2:])
